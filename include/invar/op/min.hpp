// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Smallest element of a vector, or of each row of a matrix.
#ifndef INVAR_OP_MIN_HPP
#define INVAR_OP_MIN_HPP

#include <invar/contract/defaults.hpp>
#include <invar/num/arithmetic.hpp>
#include <invar/tree/elements.hpp>
#include <invar/tree/reduce_rows.hpp>
#include <invar/tree/reductions.hpp>

#include <cmath>

namespace invar {
namespace detail {

/// The smallest element; exactly associative, so the tree is only a convenience.
struct Minimum {
  template <class T>
  KOKKOS_FUNCTION static T identity() {
    return T(HUGE_VALF);
  }
  template <class T>
  KOKKOS_FUNCTION static T choose(const T& a, const T& b) {
    return num::min(a, b);
  }
  template <num::Packed T>
  static T choose_number(const T& a, const T& b) {
    return num::min_number(a, b);
  }
};

template <class Contract, class Exec, class Result, class X>
void min_of(const Exec& exec, const Result& result, const X& x, const schedule::Rows* schedule) {
  static_assert(contract::is_rows_v<Contract>, "Invar: min takes a contract::Rows");
  const tree::Elements elements{x};
  tree::reduce_rows("min", "Invar::min", exec, result, elements,
                    tree::Extreme<Contract, tree::Elements<X>, Minimum>{elements}, schedule);
}

}  // namespace detail

/// result(i) = min_j x(i, j).
///
/// \tparam Contract  fixes the bits; contract::Extremum unless named
/// \param exec    runs asynchronously in this instance
/// \param result  [rows], any supported type. [out]
/// \param x       [rows, columns]; float, double, bfloat16_t or float16_t. Widened to float (double stays double). [in]
/// \param schedule  one of schedule::rows_table, or null to let the shape choose; never changes the bits
/// \throws invar::error  on a wrong extent, or where result overlaps x
///
/// A NaN in the row gives the canonical NaN; −0 is smaller than +0. Zero columns give +∞.
template <class Contract = contract::Extremum, ExecutionSpace Exec, ViewOfRank<1> Result, ViewOfRank<2> X>
void min(const Exec& exec, const Result& result, const X& x, const schedule::Rows* schedule = nullptr) {
  detail::min_of<Contract>(exec, result, x, schedule);
}

/// result() = min_i x(i), for a vector; otherwise as above.
template <class Contract = contract::Extremum, ExecutionSpace Exec, ViewOfRank<0> Result, ViewOfRank<1> X>
void min(const Exec& exec, const Result& result, const X& x, const schedule::Rows* schedule = nullptr) {
  detail::min_of<Contract>(exec, result, x, schedule);
}

/// The same for a vector, as a host value in the accumulator's type. Waits for exec.
template <class Contract = contract::Extremum, ExecutionSpace Exec, ViewOfRank<1> X>
auto min(const Exec& exec, const X& x) {
  using Value = num::accumulator_t<typename X::non_const_value_type>;
  return tree::on_host<Value>("Invar::min", exec, [&](const auto& result) { min<Contract>(exec, result, x); });
}

}  // namespace invar

#endif
