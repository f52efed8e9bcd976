// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Inner product of two vectors, or of matching rows of two matrices.
#ifndef INVAR_OP_DOT_HPP
#define INVAR_OP_DOT_HPP

#include <invar/contract/defaults.hpp>
#include <invar/tree/elements.hpp>
#include <invar/tree/reduce_rows.hpp>
#include <invar/tree/reductions.hpp>

#include <type_traits>

namespace invar {
namespace detail {

template <class Contract, class Exec, class Result, class X, class Y>
void dot_of(const Exec& exec, const Result& result, const X& x, const Y& y, const schedule::Rows* schedule) {
  static_assert(contract::is_rows_v<Contract>, "Invar: dot takes a contract::Rows");
  static_assert(std::is_same_v<num::accumulator_t<typename X::non_const_value_type>,
                               num::accumulator_t<typename Y::non_const_value_type>>,
                "Invar: dot: x and y must accumulate in one type");
  check_input<Exec, Y>();
  for (int d = 0; d < static_cast<int>(X::rank); ++d) require_extent("dot", "y", y, d, x.extent(d));
  require_disjoint("dot", "result", result, "y", y);
  const tree::Elements a{x};
  const tree::Elements b{y};
  tree::reduce_rows("dot", "Invar::dot", exec, result, a,
                    tree::Dot<Contract, tree::Elements<X>, tree::Elements<Y>>{a, b}, schedule);
}

}  // namespace detail

/// result(i) = Σ_j x(i, j)·y(i, j); a lane is a chain of fma.
///
/// \tparam Contract  fixes the bits; contract::Dot unless named
/// \param exec    runs asynchronously in this instance
/// \param result  [rows], any supported type; the value is rounded to it once. [out]
/// \param x, y    [rows, columns] each; float, double, bfloat16_t or float16_t, widened to float (double stays double);
///                a 16-bit type may meet float. x and y may be the same view. [in]
/// \param schedule  one of schedule::rows_table, or null to let the shape choose; never changes the bits
/// \throws invar::error  on a wrong extent, or where result overlaps x or y
///
/// The product of zero columns is +0.
template <class Contract = contract::Dot, ExecutionSpace Exec, ViewOfRank<1> Result, ViewOfRank<2> X, ViewOfRank<2> Y>
void dot(const Exec& exec, const Result& result, const X& x, const Y& y, const schedule::Rows* schedule = nullptr) {
  detail::dot_of<Contract>(exec, result, x, y, schedule);
}

/// result() = Σ_i x(i)·y(i), for vectors; otherwise as above.
template <class Contract = contract::Dot, ExecutionSpace Exec, ViewOfRank<0> Result, ViewOfRank<1> X, ViewOfRank<1> Y>
void dot(const Exec& exec, const Result& result, const X& x, const Y& y, const schedule::Rows* schedule = nullptr) {
  detail::dot_of<Contract>(exec, result, x, y, schedule);
}

/// The same for vectors, as a host value in the accumulator's type. Waits for exec.
template <class Contract = contract::Dot, ExecutionSpace Exec, ViewOfRank<1> X, ViewOfRank<1> Y>
auto dot(const Exec& exec, const X& x, const Y& y) {
  using Value = num::accumulator_t<typename X::non_const_value_type>;
  return tree::on_host<Value>("Invar::dot", exec, [&](const auto& result) { dot<Contract>(exec, result, x, y); });
}

}  // namespace invar

#endif
