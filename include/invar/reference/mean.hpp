// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The specification of mean.
#ifndef INVAR_REFERENCE_MEAN_HPP
#define INVAR_REFERENCE_MEAN_HPP

#include <invar/contract/defaults.hpp>
#include <invar/reference/each_row.hpp>
#include <invar/reference/rows.hpp>

namespace invar::reference {

/// result(row) = (Σ x(row, ·)) / columns.
template <class Contract = contract::Sum, class Result, class X>
void mean(const Result& result, const X& x) {
  for_each_row(result, x, [](std::int64_t n, const auto& element) {
    using Value = decltype(element(0));
    return num::div(row_sum<Contract, Value>(n, element), static_cast<Value>(n));
  });
}

}  // namespace invar::reference

#endif
