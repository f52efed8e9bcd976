// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The specification of embedding.
#ifndef INVAR_REFERENCE_EMBEDDING_HPP
#define INVAR_REFERENCE_EMBEDDING_HPP

#include <invar/num/types.hpp>

#include <cmath>
#include <cstdint>

namespace invar::reference {

/// y(i, ·) = table(ids(i), ·); NaN where the id is outside the table.
template <class Y, class Table, class Ids>
void embedding(const Y& y, const Table& table, const Ids& ids) {
  using T = typename Table::non_const_value_type;
  using Value = num::accumulator_t<T>;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(y.extent(0)); ++i)
    for (std::int64_t j = 0; j < static_cast<std::int64_t>(y.extent(1)); ++j) {
      const auto id = static_cast<std::int64_t>(ids(i));
      const bool known = id >= 0 && id < static_cast<std::int64_t>(table.extent(0));
      y(i, j) = num::narrow<typename Y::value_type>(known ? num::widen(T(table(id, j))) : Value(NAN));
    }
}

}  // namespace invar::reference

#endif
