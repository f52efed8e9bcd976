// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Root-mean-square normalisation of each row, alone or with a fused residual addition.
#ifndef INVAR_OP_RMS_NORM_HPP
#define INVAR_OP_RMS_NORM_HPP

#include <invar/contract/defaults.hpp>
#include <invar/tree/elements.hpp>
#include <invar/tree/outputs.hpp>
#include <invar/tree/reductions.hpp>
#include <invar/tree/row_kernel.hpp>

#include <type_traits>

namespace invar {
namespace detail {

/// The factor f of a row whose squares sum to `squares`.
template <class T>
KOKKOS_FUNCTION T rms_factor(const T& squares, std::int64_t columns, float eps) {
  const T mean = num::div(squares, static_cast<T>(columns));
  return num::rsqrt(num::add(mean, T(eps)));
}

template <class Contract, class Y, class X, class W>
struct RmsNorm {
  using scalar = typename tree::Elements<X>::value_type;
  using contract = Contract;
  static constexpr int held_operands = 2;
  static constexpr int element_bytes = tree::Elements<X>::element_bytes;
  static constexpr std::size_t value_bytes = sizeof(scalar);
  tree::Output<Y> y;
  tree::Elements<X> x;
  tree::SharedRow<W> weight;
  float eps;

  template <class Line>
  KOKKOS_FUNCTION void operator()(std::int64_t row, const Line& line) const {
    const auto& held = line.hold(row, x);
    const auto& held_weight = line.hold(row, weight);
    const scalar squares = line.reduce(row, tree::Squares<Contract, std::decay_t<decltype(held)>>{held});
    const scalar factor = rms_factor(squares, line.columns(), eps);
    line.map(
        row,
        [factor](auto v, auto w) {
          return num::mul_unfenced(num::mul_unfenced(v, num::splat<decltype(v)>(factor)), w);
        },
        y, held, held_weight);
  }
  template <class Test>
  bool every_operand(const Test& test) const {
    return test(y) && test(x) && test(weight);
  }
};

template <class Contract, class Y, class H, class X, class R, class W>
struct AddRmsNorm {
  using Sum = tree::RoundedSum<typename H::non_const_value_type, tree::Elements<X>, tree::Elements<R>>;
  using scalar = typename Sum::value_type;
  using contract = Contract;
  static constexpr int held_operands = 2;
  static constexpr int element_bytes = Sum::element_bytes;
  static constexpr std::size_t value_bytes = sizeof(scalar);
  tree::TwoOutputs<tree::Output<Y>, tree::Output<H>> outputs;
  Sum h;
  tree::SharedRow<W> weight;
  float eps;

  template <class Line>
  KOKKOS_FUNCTION void operator()(std::int64_t row, const Line& line) const {
    const auto& held = line.hold(row, h);
    const auto& held_weight = line.hold(row, weight);
    const scalar squares = line.reduce(row, tree::Squares<Contract, std::decay_t<decltype(held)>>{held});
    const scalar factor = rms_factor(squares, line.columns(), eps);
    // h is added again instead of read back, so that no thread depends on what another one wrote.
    line.map(
        row,
        [factor](auto v, auto w) {
          using T = decltype(v);
          return tree::TwoValues<T>{num::mul_unfenced(num::mul_unfenced(v, num::splat<T>(factor)), w), v};
        },
        outputs, held, held_weight);
  }
  template <class Test>
  bool every_operand(const Test& test) const {
    return test(outputs) && test(h) && test(weight);
  }
};

template <class Exec, class Y, class X, class W>
void check_rms_norm(const Y& y, const char* x_name, const X& x, const W& weight) {
  check_output<Exec>("rms_norm", "y", y);
  check_input<Exec, X>();
  check_input<Exec, W>();
  require_extent("rms_norm", "y", y, 0, x.extent(0));
  require_extent("rms_norm", "y", y, 1, x.extent(1));
  require_extent("rms_norm", "weight", weight, 0, x.extent(1));
  require_disjoint("rms_norm", "y", y, "weight", weight);
  require_disjoint_or_same("rms_norm", "y", y, x_name, x);
}

}  // namespace detail

/// y(i, j) = x(i, j)·f·weight(j) with f = 1/√(q/columns + eps) and q = Σ_j x(i, j)², the sum of contract Dot. Every
/// operation is rounded in the order written; the product is rounded to y's type last. (Zhang and Sennrich, 2019.)
///
/// \tparam Contract  fixes the bits; contract::Norm unless named
/// \param exec    runs asynchronously in this instance
/// \param y       [rows, columns], any supported type; may be x itself. [out]
/// \param x       [rows, columns]; float, double, bfloat16_t or float16_t, widened to float (double stays double). [in]
/// \param weight  [columns], of a type with the same accumulator. [in]
/// \param eps     added to the mean square; as the accumulator's type
/// \param schedule  one of schedule::rows_table, or null to let the shape choose; never changes the bits
/// \throws invar::error  on a wrong extent, or where y overlaps an input without being x
template <class Contract = contract::Norm, ExecutionSpace Exec, ViewOfRank<2> Y, ViewOfRank<2> X, ViewOfRank<1> W>
void rms_norm(const Exec& exec, const Y& y, const X& x, const W& weight, float eps,
              const schedule::Rows* schedule = nullptr) {
  static_assert(contract::is_rows_v<Contract>, "Invar: rms_norm takes a contract::Rows");
  detail::check_rms_norm<Exec>(y, "x", x, weight);
  tree::launch_map_rows<Contract>("Invar::rms_norm", exec, x.extent(0), x.extent(1), schedule,
                                  detail::RmsNorm<Contract, Y, X, W>{{y}, {x}, {weight}, eps});
}

/// The residual addition before the norm, fused: h = x + residual, rounded to h's type, then y = rms_norm(h). The bits
/// are those of the two steps apart.
///
/// \param h         [rows, columns]; may be x or residual itself, not y. [out]
/// \param residual  [rows, columns], of a type with the same accumulator. [in]
template <class Contract = contract::Norm, ExecutionSpace Exec, ViewOfRank<2> Y, ViewOfRank<2> H, ViewOfRank<2> X,
          ViewOfRank<2> R, ViewOfRank<1> W>
void rms_norm(const Exec& exec, const Y& y, const H& h, const X& x, const R& residual, const W& weight, float eps,
              const schedule::Rows* schedule = nullptr) {
  static_assert(contract::is_rows_v<Contract>, "Invar: rms_norm takes a contract::Rows");
  using namespace detail;
  check_output<Exec>("rms_norm", "h", h);
  check_input<Exec, X>();
  check_input<Exec, R>();
  check_rms_norm<Exec>(y, "x", x, weight);
  for (int d = 0; d < 2; ++d) {
    require_extent("rms_norm", "h", h, d, x.extent(d));
    require_extent("rms_norm", "residual", residual, d, x.extent(d));
  }
  require_disjoint("rms_norm", "h", h, "weight", weight);
  require_disjoint("rms_norm", "y", y, "h", h);
  require_disjoint_or_same("rms_norm", "y", y, "residual", residual);
  require_disjoint_or_same("rms_norm", "h", h, "x", x);
  require_disjoint_or_same("rms_norm", "h", h, "residual", residual);
  tree::launch_map_rows<Contract>("Invar::rms_norm", exec, x.extent(0), x.extent(1), schedule,
                                  AddRmsNorm<Contract, Y, H, X, R, W>{{{y}, {h}}, {{x}, {residual}}, {weight}, eps});
}

}  // namespace invar

#endif
