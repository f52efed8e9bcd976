// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The loop over rows that the specifications of row reductions share.
#ifndef INVAR_REFERENCE_EACH_ROW_HPP
#define INVAR_REFERENCE_EACH_ROW_HPP

#include <invar/num/types.hpp>

#include <cstdint>

namespace invar::reference {

/// result(row) = value(columns, element), where element(i) is x(row, i) widened. A vector is one row, whose result has
/// rank 0. Views must be readable on the host.
template <class Result, class X, class Value>
void for_each_row(const Result& result, const X& x, const Value& value) {
  using T = typename Result::value_type;
  using E = typename X::non_const_value_type;
  if constexpr (static_cast<int>(X::rank) == 1) {
    result() = num::narrow<T>(
        value(static_cast<std::int64_t>(x.extent(0)), [&](std::int64_t i) { return num::widen(E(x(i))); }));
  } else {
    for (std::int64_t row = 0; row < static_cast<std::int64_t>(x.extent(0)); ++row)
      result(row) = num::narrow<T>(
          value(static_cast<std::int64_t>(x.extent(1)), [&](std::int64_t i) { return num::widen(E(x(row, i))); }));
  }
}

}  // namespace invar::reference

#endif
