// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The specification of sum.
#ifndef INVAR_REFERENCE_SUM_HPP
#define INVAR_REFERENCE_SUM_HPP

#include <invar/contract/defaults.hpp>
#include <invar/reference/each_row.hpp>
#include <invar/reference/rows.hpp>

namespace invar::reference {

/// result(row) = Σ x(row, ·); +0 for no columns.
template <class Contract = contract::Sum, class Result, class X>
void sum(const Result& result, const X& x) {
  for_each_row(result, x, [](std::int64_t n, const auto& element) {
    using Value = decltype(element(0));
    return row_sum<Contract, Value>(n, element);
  });
}

}  // namespace invar::reference

#endif
