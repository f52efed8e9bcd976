// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// How a matrix unit reads its operands: formats, and elements as integers.
#ifndef INVAR_NUM_MATRIX_UNIT_OPERAND_HPP
#define INVAR_NUM_MATRIX_UNIT_OPERAND_HPP

#include <invar/contract/matrix_unit.hpp>
#include <invar/num/bits.hpp>
#include <invar/num/float8.hpp>
#include <invar/num/types.hpp>

#include <Kokkos_Macros.hpp>
#include <cstdint>
#include <type_traits>

namespace invar::num {

/// How a matrix unit reads an element: where its exponent and fraction stand, and which elements are no finite numbers.
/// A tf32 operand is a float whose low fraction bits are dropped.
template <class T>
struct OperandFormat;
template <>
struct OperandFormat<bfloat16_t> {
  static constexpr contract::Operands operands = contract::Operands::bits16;
  static constexpr int width = 16, fraction_bits = 7, bias = 127;
  static constexpr bool has_infinity = true;
  KOKKOS_FORCEINLINE_FUNCTION static std::uint32_t bits(bfloat16_t x) { return x.bits; }
};
template <>
struct OperandFormat<float16_t> {
  static constexpr contract::Operands operands = contract::Operands::bits16;
  static constexpr int width = 16, fraction_bits = 10, bias = 15;
  static constexpr bool has_infinity = true;
  KOKKOS_FORCEINLINE_FUNCTION static std::uint32_t bits(float16_t x) { return x.bits; }
};
template <>
struct OperandFormat<float> {
  static constexpr contract::Operands operands = contract::Operands::tf32;
  static constexpr int width = 19, fraction_bits = 10, bias = 127;
  static constexpr bool has_infinity = true;
  KOKKOS_FORCEINLINE_FUNCTION static std::uint32_t bits(float x) { return to_bits(x) >> 13; }
};
template <int FractionBits>
struct OperandFormat<Float8<FractionBits>> {
  static constexpr contract::Operands operands = contract::Operands::fp8;
  static constexpr int width = 8, fraction_bits = FractionBits, bias = Float8<FractionBits>::bias;
  static constexpr bool has_infinity = Float8<FractionBits>::has_infinity;
  KOKKOS_FORCEINLINE_FUNCTION static std::uint32_t bits(Float8<FractionBits> x) { return x.bits; }
};

/// An element type that matrix units read.
template <class T>
concept UnitElement = requires {
  OperandFormat<T>::width;
};

/// True where a unit multiplies elements of types A and B: both of its format and, but for fp8, of one type.
template <class Unit, class A, class B>
KOKKOS_FUNCTION constexpr bool multiplies() {
  if constexpr (UnitElement<A> && UnitElement<B>)
    return OperandFormat<A>::operands == Unit::operands && OperandFormat<B>::operands == Unit::operands &&
           (Unit::operands == contract::Operands::fp8 || std::is_same_v<A, B>);
  else
    return false;
}

/// The type in which a matmul with this arithmetic sums products of elements of type T.
template <class Arithmetic, class T, bool = contract::is_matrix_unit_v<Arithmetic>>
struct ProductSum {
  using type = accumulator_t<T>;
};
template <class Unit, class T>
struct ProductSum<Unit, T, true> {
  using type = float;
};
template <class Arithmetic, class T>
using product_sum_t = typename ProductSum<Arithmetic, T>::type;

/// An operand: (−1)^sign · significand · 2^(exponent − fraction_bits).
struct UnitOperand {
  std::uint32_t significand;
  std::int32_t exponent;   ///< operand_zero_exponent where the significand is 0
  std::uint32_t negative;  ///< all ones or all zeros
};

/// An exponent that no sum with another operand's lifts to that of a number.
inline constexpr std::int32_t operand_zero_exponent = -4096;

template <class T>
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t operand_magnitude(T x) {
  return OperandFormat<T>::bits(x) & ((std::uint32_t{1} << (OperandFormat<T>::width - 1)) - 1);
}

/// True for an infinity or a NaN.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION bool is_special_operand(T x) {
  using F = OperandFormat<T>;
  constexpr std::uint32_t all = (std::uint32_t{1} << (F::width - 1)) - 1;
  constexpr std::uint32_t infinity = all >> F::fraction_bits << F::fraction_bits;
  return operand_magnitude(x) >= (F::has_infinity ? infinity : all);
}

/// True for a NaN.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION bool is_nan_operand(T x) {
  using F = OperandFormat<T>;
  const std::uint32_t fraction = operand_magnitude(x) & ((std::uint32_t{1} << F::fraction_bits) - 1);
  return is_special_operand(x) && (!F::has_infinity || fraction != 0);
}

/// A finite element as an operand; what a special one gives is not used.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION UnitOperand decode_operand(T x) {
  using F = OperandFormat<T>;
  const std::uint32_t magnitude = operand_magnitude(x);
  const std::uint32_t fraction = magnitude & ((std::uint32_t{1} << F::fraction_bits) - 1);
  const std::int32_t field = static_cast<std::int32_t>(magnitude >> F::fraction_bits);
  UnitOperand operand;
  operand.significand = fraction | (field != 0 ? std::uint32_t{1} << F::fraction_bits : 0u);
  operand.exponent = magnitude == 0 ? operand_zero_exponent : (field != 0 ? field : 1) - F::bias;
  operand.negative = 0u - (OperandFormat<T>::bits(x) >> (F::width - 1));
  return operand;
}

}  // namespace invar::num

#endif
