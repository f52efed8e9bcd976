// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The specification of log_softmax.
#ifndef INVAR_REFERENCE_LOG_SOFTMAX_HPP
#define INVAR_REFERENCE_LOG_SOFTMAX_HPP

#include <invar/contract/defaults.hpp>
#include <invar/num/log.hpp>
#include <invar/reference/rows.hpp>

namespace invar::reference {

/// y(i, j) = (x(i, j) − m) − log(s) with the statistics of row_statistics.
template <class Contract = contract::Softmax, class Y, class X>
void log_softmax(const Y& y, const X& x) {
  using E = typename X::non_const_value_type;
  using Value = num::accumulator_t<E>;
  const auto columns = static_cast<std::int64_t>(x.extent(1));
  for (std::int64_t row = 0; row < static_cast<std::int64_t>(x.extent(0)) && columns > 0; ++row) {
    const auto element = [&](std::int64_t j) { return num::widen(E(x(row, j))); };
    const auto statistics = row_statistics<Contract, Value>(columns, element);
    const Value shift = num::finite_or_zero(statistics.max);
    const Value log_sum = num::log(statistics.sum);
    for (std::int64_t j = 0; j < columns; ++j)
      y(row, j) = num::narrow<typename Y::value_type>(num::sub(num::sub(element(j), shift), log_sum));
  }
}

}  // namespace invar::reference

#endif
