// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// How a row operation reads its operands: element (row, i), widened to the accumulator's type.
#ifndef INVAR_TREE_ELEMENTS_HPP
#define INVAR_TREE_ELEMENTS_HPP

#include <invar/num/arithmetic.hpp>
#include <invar/num/types.hpp>
#include <invar/view.hpp>

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

namespace invar::tree {

/// True where a view's type says that neighbours along the last dimension are neighbours in memory.
template <class X>
inline constexpr bool has_unit_stride_v = std::is_same_v<typename X::array_layout, Kokkos::LayoutRight> ||
                                          (static_cast<int>(X::rank) == 1 &&
                                           std::is_same_v<typename X::array_layout, Kokkos::LayoutLeft>);

/// The rows of a matrix, or a vector as the one row of a matrix.
template <class X>
struct Elements {
  using storage_type = typename X::non_const_value_type;
  using value_type = num::accumulator_t<storage_type>;
  static constexpr int rank = static_cast<int>(X::rank);
  /// Bytes of the narrowest element that a column holds; a GPU sizes its vector loads by it.
  static constexpr int element_bytes = sizeof(storage_type);
  static constexpr bool has_unit_stride = has_unit_stride_v<X>;
  X x;

  KOKKOS_FORCEINLINE_FUNCTION value_type operator()(std::int64_t row, std::int64_t i) const {
    return num::widen(storage_type(*address(row, i)));
  }
  KOKKOS_FORCEINLINE_FUNCTION const storage_type* address(std::int64_t row, std::int64_t i) const {
    if constexpr (rank == 1)
      return &x(i);
    else
      return &x(row, i);
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t column_stride() const {
    return static_cast<std::int64_t>(x.stride(rank - 1));
  }
  std::int64_t rows() const { return rank == 1 ? 1 : static_cast<std::int64_t>(x.extent(0)); }
  std::int64_t columns() const { return static_cast<std::int64_t>(x.extent(rank - 1)); }
};
template <class X>
Elements(X) -> Elements<X>;

/// One row of a matrix, whichever row is asked for.
template <class Operand>
struct FixedRow {
  using storage_type = typename Operand::storage_type;
  using value_type = typename Operand::value_type;
  static constexpr int element_bytes = Operand::element_bytes;
  static constexpr bool has_unit_stride = Operand::has_unit_stride;
  Operand operand;
  std::int64_t fixed;

  KOKKOS_FORCEINLINE_FUNCTION value_type operator()(std::int64_t, std::int64_t i) const { return operand(fixed, i); }
  KOKKOS_FORCEINLINE_FUNCTION const storage_type* address(std::int64_t, std::int64_t i) const {
    return operand.address(fixed, i);
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t column_stride() const { return operand.column_stride(); }
};
template <class Operand>
FixedRow(Operand, std::int64_t) -> FixedRow<Operand>;

/// One vector that every row of the operation shares, such as a weight.
template <class X>
struct SharedRow {
  using storage_type = typename X::non_const_value_type;
  using value_type = num::accumulator_t<storage_type>;
  static constexpr int element_bytes = sizeof(storage_type);
  static constexpr bool has_unit_stride = has_unit_stride_v<X>;
  X x;

  KOKKOS_FORCEINLINE_FUNCTION value_type operator()(std::int64_t, std::int64_t i) const {
    return num::widen(storage_type(x(i)));
  }
  KOKKOS_FORCEINLINE_FUNCTION const storage_type* address(std::int64_t, std::int64_t i) const { return &x(i); }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t column_stride() const { return static_cast<std::int64_t>(x.stride(0)); }
};
template <class X>
SharedRow(X) -> SharedRow<X>;

/// a + b, rounded to type H as if it had been stored, and widened again.
template <class H, class A, class B>
struct RoundedSum {
  using value_type = num::accumulator_t<H>;
  static constexpr int element_bytes = A::element_bytes < B::element_bytes ? A::element_bytes : B::element_bytes;
  A a;
  B b;

  KOKKOS_FORCEINLINE_FUNCTION static H rounded(typename A::value_type a, typename B::value_type b) {
    return num::narrow<H>(num::add(a, b));
  }
  KOKKOS_FORCEINLINE_FUNCTION value_type operator()(std::int64_t row, std::int64_t i) const {
    return num::widen(rounded(a(row, i), b(row, i)));
  }
};

/// The smaller of the operands' element_bytes.
template <class... Operand>
KOKKOS_FUNCTION constexpr int narrowest() {
  int bytes = 16;
  ((bytes = Operand::element_bytes < bytes ? Operand::element_bytes : bytes), ...);
  return bytes;
}

}  // namespace invar::tree

#endif
