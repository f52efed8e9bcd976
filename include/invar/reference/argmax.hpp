// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The specification of argmax.
#ifndef INVAR_REFERENCE_ARGMAX_HPP
#define INVAR_REFERENCE_ARGMAX_HPP

#include <invar/contract/defaults.hpp>
#include <invar/reference/each_row.hpp>
#include <invar/reference/rows.hpp>

namespace invar::reference {

/// result(row) = the lowest index of the largest element, NaN being the largest; −1 for no columns.
template <class Contract = contract::Extremum, class Result, class X>
void argmax(const Result& result, const X& x) {
  for_each_row(result, x, [](std::int64_t n, const auto& element) {
    std::int64_t best = n > 0 ? 0 : -1;
    for (std::int64_t i = 1; i < n; ++i)
      if (num::is_greater(element(i), element(best))) best = i;
    return best;
  });
}

}  // namespace invar::reference

#endif
