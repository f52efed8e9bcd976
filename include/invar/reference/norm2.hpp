// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The specification of norm2.
#ifndef INVAR_REFERENCE_NORM2_HPP
#define INVAR_REFERENCE_NORM2_HPP

#include <invar/contract/defaults.hpp>
#include <invar/reference/each_row.hpp>
#include <invar/reference/rows.hpp>

namespace invar::reference {

/// result(row) = √(Σ x(row, ·)²).
template <class Contract = contract::Dot, class Result, class X>
void norm2(const Result& result, const X& x) {
  for_each_row(result, x, [](std::int64_t n, const auto& element) {
    using Value = decltype(element(0));
    return num::sqrt(row_dot<Contract, Value>(n, element, element));
  });
}

}  // namespace invar::reference

#endif
