// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Largest element of a vector, or of each row of a matrix.
#ifndef INVAR_OP_MAX_HPP
#define INVAR_OP_MAX_HPP

#include <invar/contract/defaults.hpp>
#include <invar/tree/elements.hpp>
#include <invar/tree/reduce_rows.hpp>
#include <invar/tree/reductions.hpp>

namespace invar {
namespace detail {

template <class Contract, class Exec, class Result, class X>
void max_of(const Exec& exec, const Result& result, const X& x, const schedule::Rows* schedule) {
  static_assert(contract::is_rows_v<Contract>, "Invar: max takes a contract::Rows");
  const tree::Elements elements{x};
  tree::reduce_rows("max", "Invar::max", exec, result, elements,
                    tree::Extreme<Contract, tree::Elements<X>, tree::Largest>{elements}, schedule);
}

}  // namespace detail

/// result(i) = max_j x(i, j).
///
/// \tparam Contract  fixes the bits; contract::Extremum unless named
/// \param exec    runs asynchronously in this instance
/// \param result  [rows], any supported type. [out]
/// \param x       [rows, columns]; float, double, bfloat16_t or float16_t. Widened to float (double stays double). [in]
/// \param schedule  one of schedule::rows_table, or null to let the shape choose; never changes the bits
/// \throws invar::error  on a wrong extent, or where result overlaps x
///
/// A NaN in the row gives the canonical NaN; +0 is larger than −0. Zero columns give −∞.
template <class Contract = contract::Extremum, ExecutionSpace Exec, ViewOfRank<1> Result, ViewOfRank<2> X>
void max(const Exec& exec, const Result& result, const X& x, const schedule::Rows* schedule = nullptr) {
  detail::max_of<Contract>(exec, result, x, schedule);
}

/// result() = max_i x(i), for a vector; otherwise as above.
template <class Contract = contract::Extremum, ExecutionSpace Exec, ViewOfRank<0> Result, ViewOfRank<1> X>
void max(const Exec& exec, const Result& result, const X& x, const schedule::Rows* schedule = nullptr) {
  detail::max_of<Contract>(exec, result, x, schedule);
}

/// The same for a vector, as a host value in the accumulator's type. Waits for exec.
template <class Contract = contract::Extremum, ExecutionSpace Exec, ViewOfRank<1> X>
auto max(const Exec& exec, const X& x) {
  using Value = num::accumulator_t<typename X::non_const_value_type>;
  return tree::on_host<Value>("Invar::max", exec, [&](const auto& result) { max<Contract>(exec, result, x); });
}

}  // namespace invar

#endif
