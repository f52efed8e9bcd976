// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Logarithm of the softmax of each row.
#ifndef INVAR_OP_LOG_SOFTMAX_HPP
#define INVAR_OP_LOG_SOFTMAX_HPP

#include <invar/contract/defaults.hpp>
#include <invar/num/log.hpp>
#include <invar/tree/elements.hpp>
#include <invar/tree/outputs.hpp>
#include <invar/tree/reductions.hpp>
#include <invar/tree/row_kernel.hpp>

#include <type_traits>

namespace invar {
namespace detail {

template <class Contract, class Y, class X>
struct LogSoftmax {
  using Statistics = tree::ShiftedExponentials<Contract, tree::Elements<X>>;
  using scalar = typename Statistics::scalar;
  using contract = Contract;
  static constexpr int held_operands = 1;
  static constexpr int element_bytes = Statistics::element_bytes;
  static constexpr std::size_t value_bytes = sizeof(typename Statistics::value_type);
  tree::Output<Y> y;
  tree::Elements<X> x;

  template <class Line>
  KOKKOS_FUNCTION void operator()(std::int64_t row, const Line& line) const {
    const auto& held = line.hold(row, x);
    const auto statistics = line.reduce(row, tree::ShiftedExponentials<Contract, std::decay_t<decltype(held)>>{held});
    const scalar shift = num::finite_or_zero(statistics.max);
    const scalar log_sum = num::log(statistics.sum);
    line.map(
        row,
        [shift, log_sum](auto v) {
          using T = decltype(v);
          return num::sub(num::sub(v, num::splat<T>(shift)), num::splat<T>(log_sum));
        },
        y, held);
  }
  template <class Test>
  bool every_operand(const Test& test) const {
    return test(y) && test(x);
  }
};

}  // namespace detail

/// y(i, j) = (x(i, j) − m) − log(s) with m the maximum and s the shifted sum of logsumexp; every operation rounded in
/// the order written.
///
/// \tparam Contract  fixes the bits; contract::Softmax unless named
/// \param exec    runs asynchronously in this instance
/// \param y       [rows, columns], any supported type; may be x itself. [out]
/// \param x       [rows, columns]; float, bfloat16_t or float16_t, widened to float. [in]
/// \param schedule  one of schedule::rows_table, or null to let the shape choose; never changes the bits
/// \throws invar::error  on a wrong extent, or where y overlaps x without being x
///
/// A row that holds NaN or +∞, or nothing but −∞, is NaN throughout, except that finite elements beside +∞ give −∞.
/// double is not supported: Invar's exp is a float function.
template <class Contract = contract::Softmax, ExecutionSpace Exec, ViewOfRank<2> Y, ViewOfRank<2> X>
void log_softmax(const Exec& exec, const Y& y, const X& x, const schedule::Rows* schedule = nullptr) {
  static_assert(contract::is_rows_v<Contract>, "Invar: log_softmax takes a contract::Rows");
  using namespace detail;
  check_output<Exec>("log_softmax", "y", y);
  check_input<Exec, X>();
  require_extent("log_softmax", "y", y, 0, x.extent(0));
  require_extent("log_softmax", "y", y, 1, x.extent(1));
  require_disjoint_or_same("log_softmax", "y", y, "x", x);
  tree::launch_map_rows<Contract>("Invar::log_softmax", exec, x.extent(0), x.extent(1), schedule,
                                  LogSoftmax<Contract, Y, X>{{y}, {x}});
}

}  // namespace invar

#endif
