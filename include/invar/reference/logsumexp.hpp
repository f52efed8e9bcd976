// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The specification of logsumexp.
#ifndef INVAR_REFERENCE_LOGSUMEXP_HPP
#define INVAR_REFERENCE_LOGSUMEXP_HPP

#include <invar/contract/defaults.hpp>
#include <invar/num/log.hpp>
#include <invar/reference/each_row.hpp>
#include <invar/reference/rows.hpp>

namespace invar::reference {

/// result(row) = m + log(Σ exp(x(row, ·) − m)).
template <class Contract = contract::LogSumExp, class Result, class X>
void logsumexp(const Result& result, const X& x) {
  for_each_row(result, x, [](std::int64_t n, const auto& element) {
    using Value = decltype(element(0));
    const auto statistics = row_statistics<Contract, Value>(n, element);
    return num::add(num::finite_or_zero(statistics.max), num::log(statistics.sum));
  });
}

}  // namespace invar::reference

#endif
