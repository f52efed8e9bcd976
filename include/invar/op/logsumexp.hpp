// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Logarithm of the sum of exponentials of a vector, or of each row of a matrix.
#ifndef INVAR_OP_LOGSUMEXP_HPP
#define INVAR_OP_LOGSUMEXP_HPP

#include <invar/contract/defaults.hpp>
#include <invar/num/log.hpp>
#include <invar/tree/elements.hpp>
#include <invar/tree/reduce_rows.hpp>
#include <invar/tree/reductions.hpp>

namespace invar {
namespace detail {

struct ShiftedLog {
  template <class T>
  KOKKOS_FUNCTION T operator()(const tree::MaxSum<T>& value) const {
    return num::add(num::finite_or_zero(value.max), num::log(value.sum));
  }
};

template <class Contract, class Exec, class Result, class X>
void logsumexp_of(const Exec& exec, const Result& result, const X& x, const schedule::Rows* schedule) {
  static_assert(contract::is_rows_v<Contract>, "Invar: logsumexp takes a contract::Rows");
  const tree::Elements elements{x};
  tree::reduce_rows("logsumexp", "Invar::logsumexp", exec, result, elements,
                    tree::ShiftedExponentials<Contract, tree::Elements<X>>{elements}, schedule, ShiftedLog{});
}

}  // namespace detail

/// result(i) = m + log(Σ_j exp(x(i, j) − m)) with m = max_j x(i, j); each operation rounded, exp and log Invar's own.
///
/// \tparam Contract  fixes the bits; contract::LogSumExp unless named
/// \param exec    runs asynchronously in this instance
/// \param result  [rows], any supported type; the value is rounded to it once. [out]
/// \param x       [rows, columns]; float, bfloat16_t or float16_t. Widened to float. [in]
/// \param schedule  one of schedule::rows_table, or null to let the shape choose; never changes the bits
/// \throws invar::error  on a wrong extent, or where result overlaps x
///
/// How leaves and joins keep the sum shifted is stated at tree::ShiftedExponentials. A row of −∞, or of zero columns,
/// gives −∞; one that holds +∞ and no NaN gives +∞. double is not supported: Invar's exp is a float function.
template <class Contract = contract::LogSumExp, ExecutionSpace Exec, ViewOfRank<1> Result, ViewOfRank<2> X>
void logsumexp(const Exec& exec, const Result& result, const X& x, const schedule::Rows* schedule = nullptr) {
  detail::logsumexp_of<Contract>(exec, result, x, schedule);
}

/// The same for a vector: result() = m + log(Σ_i exp(x(i) − m)); otherwise as above.
template <class Contract = contract::LogSumExp, ExecutionSpace Exec, ViewOfRank<0> Result, ViewOfRank<1> X>
void logsumexp(const Exec& exec, const Result& result, const X& x, const schedule::Rows* schedule = nullptr) {
  detail::logsumexp_of<Contract>(exec, result, x, schedule);
}

/// The same for a vector, as a host value in the accumulator's type. Waits for exec.
template <class Contract = contract::LogSumExp, ExecutionSpace Exec, ViewOfRank<1> X>
auto logsumexp(const Exec& exec, const X& x) {
  using Value = num::accumulator_t<typename X::non_const_value_type>;
  return tree::on_host<Value>("Invar::logsumexp", exec,
                              [&](const auto& result) { logsumexp<Contract>(exec, result, x); });
}

}  // namespace invar

#endif
