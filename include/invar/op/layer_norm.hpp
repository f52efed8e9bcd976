// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Layer normalisation of each row.
#ifndef INVAR_OP_LAYER_NORM_HPP
#define INVAR_OP_LAYER_NORM_HPP

#include <invar/contract/defaults.hpp>
#include <invar/tree/elements.hpp>
#include <invar/tree/reductions.hpp>
#include <invar/tree/row_kernel.hpp>

namespace invar {
namespace detail {

template <class Contract, class Y, class X, class W, class B>
struct LayerNorm {
  using scalar = num::accumulator_t<typename X::non_const_value_type>;
  Y y;
  X x;
  W weight;
  B bias;
  float eps;

  template <class Line>
  KOKKOS_FUNCTION void operator()(std::int64_t row, const Line& line) const {
    const tree::Elements<X> elements{x};
    const scalar count = static_cast<scalar>(line.columns());
    const scalar mean = num::div(line.reduce(row, tree::Sum<Contract, tree::Elements<X>>{elements}), count);
    const scalar squares = line.reduce(row, tree::CentredSquares<Contract, tree::Elements<X>>{elements, mean});
    const scalar factor = num::rsqrt(num::add(num::div(squares, count), scalar(eps)));
    line.for_each_column([&](std::int64_t j) {
      const scalar w = num::widen(typename W::non_const_value_type(weight(j)));
      const scalar b = num::widen(typename B::non_const_value_type(bias(j)));
      const scalar normal = num::mul_unfenced(num::sub(elements(row, j), mean), factor);
      y(row, j) = num::narrow<typename Y::value_type>(num::fma(normal, w, b));
    });
  }
};

}  // namespace detail

/// y(i, j) = fma((x(i, j) − m)·f, weight(j), bias(j)) with m = (Σ_j x(i, j))/columns, v = Σ_j (x(i, j) − m)²/columns
/// and f = 1/√(v + eps). Every operation is rounded in the order written; the squares are summed by fma in a second
/// pass over the row, in the tree of the contract. (Ba, Kiros and Hinton, 2016.)
///
/// \tparam Contract  fixes the bits; contract::Norm unless named
/// \param exec    runs asynchronously in this instance
/// \param y       [rows, columns], any supported type; may be x itself. [out]
/// \param x       [rows, columns]; float, double, bfloat16_t or float16_t, widened to float (double stays double). [in]
/// \param weight, bias  [columns] each, of a type with the same accumulator. [in]
/// \param eps     added to the variance; as the accumulator's type
/// \param schedule  one of schedule::rows_table, or null to let the shape choose; never changes the bits
/// \throws invar::error  on a wrong extent, or where y overlaps an input without being x
template <class Contract = contract::Norm, ExecutionSpace Exec, ViewOfRank<2> Y, ViewOfRank<2> X, ViewOfRank<1> W,
          ViewOfRank<1> B>
void layer_norm(const Exec& exec, const Y& y, const X& x, const W& weight, const B& bias, float eps,
                const schedule::Rows* schedule = nullptr) {
  static_assert(contract::is_rows_v<Contract>, "Invar: layer_norm takes a contract::Rows");
  using namespace detail;
  check_output<Exec>("layer_norm", "y", y);
  check_input<Exec, X>();
  check_input<Exec, W>();
  check_input<Exec, B>();
  const auto rows = static_cast<std::int64_t>(x.extent(0));
  const auto columns = static_cast<std::int64_t>(x.extent(1));
  require_extent("layer_norm", "y", y, 0, rows);
  require_extent("layer_norm", "y", y, 1, columns);
  require_extent("layer_norm", "weight", weight, 0, columns);
  require_extent("layer_norm", "bias", bias, 0, columns);
  require_disjoint("layer_norm", "y", y, "weight", weight);
  require_disjoint("layer_norm", "y", y, "bias", bias);
  require_disjoint_or_same("layer_norm", "y", y, "x", x);
  tree::launch_map_rows<Contract>("Invar::layer_norm", exec, rows, columns, sizeof(double), schedule,
                                  LayerNorm<Contract, Y, X, W, B>{y, x, weight, bias, eps});
}

}  // namespace invar

#endif
