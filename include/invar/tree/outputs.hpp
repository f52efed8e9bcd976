// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Where a map over columns stores its values.
#ifndef INVAR_TREE_OUTPUTS_HPP
#define INVAR_TREE_OUTPUTS_HPP

#include <invar/num/types.hpp>

#include <Kokkos_Macros.hpp>
#include <cstdint>

namespace invar::tree {

/// One matrix; values are rounded to its type.
template <class Y>
struct Output {
  using storage_type = typename Y::value_type;
  static constexpr int element_bytes = sizeof(storage_type);
  Y y;

  template <class Value>
  KOKKOS_FORCEINLINE_FUNCTION static storage_type rounded(const Value& value) {
    return num::narrow<storage_type>(value);
  }
  template <class Value>
  KOKKOS_FORCEINLINE_FUNCTION void store(std::int64_t row, std::int64_t column, const Value& value) const {
    y(row, column) = rounded(value);
  }
};
template <class Y>
Output(Y) -> Output<Y>;

/// The values of two matrices at one place.
template <class T>
struct TwoValues {
  T first;
  T second;
};

/// Two matrices, written together: an operand may be either of them.
template <class First, class Second>
struct TwoOutputs {
  static constexpr int element_bytes =
      First::element_bytes < Second::element_bytes ? First::element_bytes : Second::element_bytes;
  First first;
  Second second;

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION void store(std::int64_t row, std::int64_t column, const TwoValues<T>& values) const {
    first.store(row, column, values.first);
    second.store(row, column, values.second);
  }
};
template <class First, class Second>
TwoOutputs(First, Second) -> TwoOutputs<First, Second>;

}  // namespace invar::tree

#endif
