// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// How a row operation reads its input: element (row, i), widened to the accumulator's type.
#ifndef INVAR_TREE_ELEMENTS_HPP
#define INVAR_TREE_ELEMENTS_HPP

#include <invar/num/types.hpp>
#include <invar/view.hpp>

#include <cstdint>

namespace invar::tree {

/// The rows of a matrix, or a vector as the one row of a matrix.
template <class X>
struct Elements {
  using value_type = num::accumulator_t<typename X::non_const_value_type>;
  X x;

  KOKKOS_FORCEINLINE_FUNCTION value_type operator()(std::int64_t row, std::int64_t i) const {
    if constexpr (static_cast<int>(X::rank) == 1)
      return num::widen(typename X::non_const_value_type(x(i)));
    else
      return num::widen(typename X::non_const_value_type(x(row, i)));
  }
  std::int64_t rows() const { return static_cast<int>(X::rank) == 1 ? 1 : static_cast<std::int64_t>(x.extent(0)); }
  std::int64_t columns() const { return static_cast<std::int64_t>(x.extent(static_cast<int>(X::rank) - 1)); }
};
template <class X>
Elements(X) -> Elements<X>;

}  // namespace invar::tree

#endif
