// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Sum of a vector, or of each row of a matrix.
#ifndef INVAR_OP_SUM_HPP
#define INVAR_OP_SUM_HPP

#include <invar/contract/defaults.hpp>
#include <invar/tree/elements.hpp>
#include <invar/tree/reduce_rows.hpp>
#include <invar/tree/reductions.hpp>

namespace invar {
namespace detail {

template <class Contract, class Exec, class Result, class X>
void sum_of(const Exec& exec, const Result& result, const X& x, const schedule::Rows* schedule) {
  static_assert(contract::is_rows_v<Contract>, "Invar: sum takes a contract::Rows");
  const tree::Elements elements{x};
  tree::reduce_rows("sum", "Invar::sum", exec, result, elements, tree::Sum<Contract, tree::Elements<X>>{elements},
                    schedule);
}

}  // namespace detail

/// result(i) = Σ_j x(i, j).
///
/// \tparam Contract  fixes the bits; contract::Sum unless named
/// \param exec    runs asynchronously in this instance
/// \param result  [rows], any supported type; the value is rounded to it once. [out]
/// \param x       [rows, columns]; float, double, bfloat16_t or float16_t. Widened to float (double stays double). [in]
/// \param schedule  one of schedule::rows_table, or null to let the shape choose; never changes the bits
/// \throws invar::error  on a wrong extent, or where result overlaps x
///
/// A row of zero columns sums to +0.
template <class Contract = contract::Sum, ExecutionSpace Exec, ViewOfRank<1> Result, ViewOfRank<2> X>
void sum(const Exec& exec, const Result& result, const X& x, const schedule::Rows* schedule = nullptr) {
  detail::sum_of<Contract>(exec, result, x, schedule);
}

/// result() = Σ_i x(i), for a vector; otherwise as above.
template <class Contract = contract::Sum, ExecutionSpace Exec, ViewOfRank<0> Result, ViewOfRank<1> X>
void sum(const Exec& exec, const Result& result, const X& x, const schedule::Rows* schedule = nullptr) {
  detail::sum_of<Contract>(exec, result, x, schedule);
}

/// The same for a vector, as a host value in the accumulator's type. Waits for exec.
template <class Contract = contract::Sum, ExecutionSpace Exec, ViewOfRank<1> X>
auto sum(const Exec& exec, const X& x) {
  using Value = num::accumulator_t<typename X::non_const_value_type>;
  return tree::on_host<Value>("Invar::sum", exec, [&](const auto& result) { sum<Contract>(exec, result, x); });
}

}  // namespace invar

#endif
