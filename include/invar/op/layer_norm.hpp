// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Layer normalisation of each row.
#ifndef INVAR_OP_LAYER_NORM_HPP
#define INVAR_OP_LAYER_NORM_HPP

#include <invar/contract/defaults.hpp>
#include <invar/tree/elements.hpp>
#include <invar/tree/outputs.hpp>
#include <invar/tree/reductions.hpp>
#include <invar/tree/row_kernel.hpp>

#include <type_traits>

namespace invar {
namespace detail {

template <class Contract, class Y, class X, class W, class B>
struct LayerNorm {
  using scalar = typename tree::Elements<X>::value_type;
  using contract = Contract;
  static constexpr int held_operands = 3;
  static constexpr int element_bytes = tree::Elements<X>::element_bytes;
  static constexpr std::size_t value_bytes = sizeof(scalar);
  tree::Output<Y> y;
  tree::Elements<X> x;
  tree::SharedRow<W> weight;
  tree::SharedRow<B> bias;
  float eps;

  template <class Line>
  KOKKOS_FUNCTION void operator()(std::int64_t row, const Line& line) const {
    const auto& held = line.hold(row, x);
    const auto& held_weight = line.hold(row, weight);
    const auto& held_bias = line.hold(row, bias);
    using Held = std::decay_t<decltype(held)>;
    const scalar count = static_cast<scalar>(line.columns());
    const scalar mean = num::div(line.reduce(row, tree::Sum<Contract, Held>{held}), count);
    const scalar squares = line.reduce(row, tree::CentredSquares<Contract, Held>{held, mean});
    const scalar factor = num::rsqrt(num::add(num::div(squares, count), scalar(eps)));
    line.map(
        row,
        [mean, factor](auto v, auto w, auto b) {
          using T = decltype(v);
          return num::fma(num::mul_unfenced(num::sub(v, num::splat<T>(mean)), num::splat<T>(factor)), w, b);
        },
        y, held, held_weight, held_bias);
  }
  template <class Test>
  bool every_operand(const Test& test) const {
    return test(y) && test(x) && test(weight) && test(bias);
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
  tree::launch_map_rows<Contract>("Invar::layer_norm", exec, rows, columns, schedule,
                                  LayerNorm<Contract, Y, X, W, B>{{y}, {x}, {weight}, {bias}, eps});
}

}  // namespace invar

#endif
