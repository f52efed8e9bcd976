// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The software model of matrix units: contract::TruncatedFusedDot in integer arithmetic, for any host and device.
///
/// The functions work on one element or one output and have no branches in what a finite value passes, so that loops
/// over many columns become vector code. `add_products` is the whole of a group step; kernels that share decoded
/// operands among outputs call its parts.
#ifndef INVAR_NUM_MATRIX_UNIT_HPP
#define INVAR_NUM_MATRIX_UNIT_HPP

#include <invar/contract/matrix_unit.hpp>
#include <invar/num/bits.hpp>
#include <invar/num/matrix_unit_operand.hpp>

#include <Kokkos_Macros.hpp>
#include <cstdint>

namespace invar::num {

/// The exponent of an accumulator.
template <class Unit>
KOKKOS_FORCEINLINE_FUNCTION std::int32_t accumulator_exponent(float acc) {
  const std::uint32_t magnitude = to_bits(acc) & 0x7fffffffu;
  const std::int32_t field = static_cast<std::int32_t>(magnitude >> 23);
  return magnitude == 0 ? Unit::zero_exponent : (field != 0 ? field : 1) - 127;
}

/// A product as a multiple of 2^(largest − alignment_bits), cut toward zero.
///
/// \tparam FractionBits  of both operands together
/// \param significands  the product of the significands
/// \param drop          the largest exponent less the product's; at least 0 where the product is not 0
/// \param negative      all ones or all zeros
template <class Unit, int FractionBits>
KOKKOS_FORCEINLINE_FUNCTION std::int32_t align_product(std::uint32_t significands, std::int32_t drop,
                                                       std::uint32_t negative) {
  static_assert(Unit::alignment_bits >= FractionBits,
                "Invar: the model takes products whose significands fit the unit's alignment bits");
  static_assert((std::uint64_t{Unit::group} << (Unit::alignment_bits + 2)) <= std::uint64_t{1} << 31,
                "Invar: the model sums a group's products in 32 bits");
  const std::uint32_t magnitude = (significands << (Unit::alignment_bits - FractionBits)) >> (drop < 31 ? drop : 31);
  return static_cast<std::int32_t>((magnitude ^ negative) - negative);
}

/// The group's result from the exact sum of its aligned products and a finite accumulator.
///
/// \param sum      multiple of 2^(largest − alignment_bits)
/// \param largest  the largest exponent of the group, the accumulator's included
template <class Unit>
KOKKOS_FORCEINLINE_FUNCTION float join_accumulator(std::int32_t sum, std::int32_t largest, float acc) {
  constexpr int bits = Unit::alignment_bits;
  const std::uint32_t acc_bits = to_bits(acc);
  const std::uint32_t acc_field = (acc_bits >> 23) & 0xffu;
  const std::uint32_t acc_significand = (acc_bits & 0x7fffffu) | (acc_field != 0 ? 0x800000u : 0u);
  const std::int32_t drop = largest - accumulator_exponent<Unit>(acc);
  const std::int32_t clamped = drop < 31 ? drop : 31;
  std::uint32_t acc_magnitude;
  if constexpr (bits >= 23)
    acc_magnitude = (acc_significand << (bits - 23)) >> clamped;
  else
    acc_magnitude = (acc_significand >> (23 - bits)) >> clamped;
  const std::uint32_t acc_negative = 0u - (acc_bits >> 31);
  const std::uint32_t addend = (acc_magnitude ^ acc_negative) - acc_negative;

  // The total may need 33 bits. Its low 32 are kept, and its sign follows from the signs of the two parts.
  const std::uint32_t products = static_cast<std::uint32_t>(sum);
  const std::uint32_t total = products + addend;
  const std::uint32_t sign = ((products & addend) | ((products ^ addend) & total)) >> 31;
  const std::uint32_t magnitude = (total ^ (0u - sign)) + sign;

  // Bits below the 24 highest are dropped, so that the conversion to float is exact: it finds the highest bit.
  std::uint32_t low = magnitude >> 24;
  low |= low >> 1;
  low |= low >> 2;
  low |= low >> 4;
  const std::uint32_t normal = to_bits(static_cast<float>(magnitude & ~low));
  const std::int32_t field = static_cast<std::int32_t>(normal >> 23) + largest - bits;
  const std::uint32_t fraction = normal & 0x7fffffu;
  const std::int32_t shift = 1 - field;
  const std::uint32_t subnormal = (fraction | 0x800000u) >> (shift < 0 ? 0 : shift < 31 ? shift : 31);
  std::uint32_t result = field > 0 ? (static_cast<std::uint32_t>(field) << 23) | fraction : subnormal;
  result &= ~((std::uint32_t{1} << (23 - Unit::result_bits)) - 1);
  result = field >= 255 ? 0x7f800000u : result;
  // Covers a sum of exactly 0 and what the cut left nothing of.
  result = magnitude == 0 ? 0u : result;
  return from_bits<float>(result == 0 ? 0u : (sign << 31) | result);
}

/// The NaN that NVIDIA's matrix units return.
KOKKOS_FORCEINLINE_FUNCTION float matrix_unit_nan() { return from_bits<float>(std::uint32_t{0x7fffffffu}); }

/// True for an infinite or NaN accumulator.
KOKKOS_FORCEINLINE_FUNCTION bool is_special_accumulator(float acc) {
  return (to_bits(acc) & 0x7f800000u) == 0x7f800000u;
}

/// An infinite or NaN accumulator after finite products.
KOKKOS_FORCEINLINE_FUNCTION float keep_special_accumulator(float acc) {
  return (to_bits(acc) & 0x7fffffu) != 0 ? matrix_unit_nan() : acc;
}

/// A group step in which an operand or the accumulator is infinite or NaN.
template <class A, class B>
KOKKOS_INLINE_FUNCTION float add_special_products(const A* a, std::int64_t stride_a, const B* b, std::int64_t stride_b,
                                                  int count, float acc) {
  const std::uint32_t acc_bits = to_bits(acc);
  bool nan = (acc_bits & 0x7fffffffu) > 0x7f800000u;
  bool plus = acc_bits == 0x7f800000u;
  bool minus = acc_bits == 0xff800000u;
  for (int k = 0; k < count; ++k) {
    const A x = a[k * stride_a];
    const B y = b[k * stride_b];
    if (!is_special_operand(x) && !is_special_operand(y)) continue;
    const UnitOperand left = decode_operand(x), right = decode_operand(y);
    if (is_nan_operand(x) || is_nan_operand(y) || left.exponent == operand_zero_exponent ||
        right.exponent == operand_zero_exponent)
      nan = true;
    else if (left.negative != right.negative)
      minus = true;
    else
      plus = true;
  }
  if (nan || (plus && minus)) return matrix_unit_nan();
  return from_bits<float>(plus ? std::uint32_t{0x7f800000u} : std::uint32_t{0xff800000u});
}

/// One group step: acc and the products a[k·stride_a]·b[k·stride_b], 0 ≤ k < count, joined as
/// contract::TruncatedFusedDot says. Missing products, where count is below the group, are zero.
template <class Unit, class A, class B>
KOKKOS_INLINE_FUNCTION float add_products(const A* a, std::int64_t stride_a, const B* b, std::int64_t stride_b,
                                          int count, float acc) {
  static_assert(multiplies<Unit, A, B>(), "Invar: this matrix unit does not multiply these element types");
  constexpr int fraction_bits = OperandFormat<A>::fraction_bits + OperandFormat<B>::fraction_bits;
  bool special = is_special_accumulator(acc);
  std::int32_t largest = accumulator_exponent<Unit>(acc);
  for (int k = 0; k < count; ++k) {
    special = special || is_special_operand(a[k * stride_a]) || is_special_operand(b[k * stride_b]);
    const std::int32_t exponent = decode_operand(a[k * stride_a]).exponent + decode_operand(b[k * stride_b]).exponent;
    largest = largest > exponent ? largest : exponent;
  }
  if (special) return add_special_products(a, stride_a, b, stride_b, count, acc);
  std::int32_t sum = 0;
  for (int k = 0; k < count; ++k) {
    const UnitOperand x = decode_operand(a[k * stride_a]), y = decode_operand(b[k * stride_b]);
    sum += align_product<Unit, fraction_bits>(x.significand * y.significand, largest - (x.exponent + y.exponent),
                                              x.negative ^ y.negative);
  }
  return join_accumulator<Unit>(sum, largest, acc);
}

}  // namespace invar::num

#endif
