// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Softmax of each row.
#ifndef INVAR_OP_SOFTMAX_HPP
#define INVAR_OP_SOFTMAX_HPP

#include <invar/contract/defaults.hpp>
#include <invar/tree/elements.hpp>
#include <invar/tree/reductions.hpp>
#include <invar/tree/row_kernel.hpp>

namespace invar {
namespace detail {

template <class Contract, class Y, class X>
struct Softmax {
  using scalar = num::accumulator_t<typename X::non_const_value_type>;
  Y y;
  X x;

  template <class Line>
  KOKKOS_FUNCTION void operator()(std::int64_t row, const Line& line) const {
    const tree::Elements<X> elements{x};
    const auto statistics = line.reduce(row, tree::ShiftedExponentials<Contract, tree::Elements<X>>{elements});
    const scalar shift = num::finite_or_zero(statistics.max);
    const scalar factor = num::div(scalar(1), statistics.sum);
    line.for_each_column([&](std::int64_t j) {
      const scalar p = num::exp(num::sub(elements(row, j), shift));
      y(row, j) = num::narrow<typename Y::value_type>(num::mul_unfenced(p, factor));
    });
  }
};

}  // namespace detail

/// y(i, j) = exp(x(i, j) − m)·(1/s) with m the maximum and s the shifted sum of logsumexp; every operation rounded in
/// the order written.
///
/// \tparam Contract  fixes the bits; contract::Softmax unless named
/// \param exec    runs asynchronously in this instance
/// \param y       [rows, columns], any supported type; may be x itself. [out]
/// \param x       [rows, columns]; float, bfloat16_t or float16_t, widened to float. [in]
/// \param schedule  one of schedule::rows_table, or null to let the shape choose; never changes the bits
/// \throws invar::error  on a wrong extent, or where y overlaps x without being x
///
/// A row that holds NaN, or nothing but −∞, is NaN throughout; beside +∞, which gives NaN, finite elements give +0, or
/// NaN where their exponential overflows. double is not supported: Invar's exp is a float function.
template <class Contract = contract::Softmax, ExecutionSpace Exec, ViewOfRank<2> Y, ViewOfRank<2> X>
void softmax(const Exec& exec, const Y& y, const X& x, const schedule::Rows* schedule = nullptr) {
  static_assert(contract::is_rows_v<Contract>, "Invar: softmax takes a contract::Rows");
  using namespace detail;
  check_output<Exec>("softmax", "y", y);
  check_input<Exec, X>();
  require_extent("softmax", "y", y, 0, x.extent(0));
  require_extent("softmax", "y", y, 1, x.extent(1));
  require_disjoint_or_same("softmax", "y", y, "x", x);
  using Scalar = num::accumulator_t<typename X::non_const_value_type>;
  tree::launch_map_rows<Contract>("Invar::softmax", exec, x.extent(0), x.extent(1), sizeof(tree::MaxSum<Scalar>),
                                  schedule, Softmax<Contract, Y, X>{y, x});
}

}  // namespace invar

#endif
