// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The specification of dot.
#ifndef INVAR_REFERENCE_DOT_HPP
#define INVAR_REFERENCE_DOT_HPP

#include <invar/contract/defaults.hpp>
#include <invar/reference/rows.hpp>

namespace invar::reference {

/// result(row) = Σ x(row, ·)·y(row, ·); for vectors result().
template <class Contract = contract::Dot, class Result, class X, class Y>
void dot(const Result& result, const X& x, const Y& y) {
  using T = typename Result::value_type;
  using A = typename X::non_const_value_type;
  using B = typename Y::non_const_value_type;
  using Value = num::accumulator_t<A>;
  if constexpr (static_cast<int>(X::rank) == 1) {
    result() = num::narrow<T>(row_dot<Contract, Value>(
        x.extent(0), [&](std::int64_t i) { return num::widen(A(x(i))); },
        [&](std::int64_t i) { return num::widen(B(y(i))); }));
  } else {
    for (std::int64_t row = 0; row < static_cast<std::int64_t>(x.extent(0)); ++row)
      result(row) = num::narrow<T>(row_dot<Contract, Value>(
          x.extent(1), [&](std::int64_t i) { return num::widen(A(x(row, i))); },
          [&](std::int64_t i) { return num::widen(B(y(row, i))); }));
  }
}

}  // namespace invar::reference

#endif
