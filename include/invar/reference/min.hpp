// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The specification of min.
#ifndef INVAR_REFERENCE_MIN_HPP
#define INVAR_REFERENCE_MIN_HPP

#include <invar/contract/defaults.hpp>
#include <invar/reference/each_row.hpp>
#include <invar/reference/rows.hpp>

namespace invar::reference {

/// result(row) = min x(row, ·); +∞ for no columns.
template <class Contract = contract::Extremum, class Result, class X>
void min(const Result& result, const X& x) {
  for_each_row(result, x, [](std::int64_t n, const auto& element) {
    using Value = decltype(element(0));
    Value best(HUGE_VALF);
    for (std::int64_t i = 0; i < n; ++i) best = num::min(best, element(i));
    return best;
  });
}

}  // namespace invar::reference

#endif
