// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The 8-bit storage types of matrix units: e4m3 and e5m2 of the Open Compute Project's "8-bit floating point
/// specification". They have no arithmetic of their own, and only a contract with a matrix unit takes them.
#ifndef INVAR_NUM_FLOAT8_HPP
#define INVAR_NUM_FLOAT8_HPP

#include <invar/num/bits.hpp>

#include <Kokkos_Macros.hpp>
#include <cstdint>
#include <type_traits>

namespace invar {

/// 1 sign, 7 − FractionBits exponent and FractionBits fraction bits. e4m3 has no infinity, and one NaN of each sign,
/// 0x7f and 0xff. Widening is exact; narrowing rounds to nearest, ties to even, keeps subnormals, makes what is too
/// large an infinity, or in e4m3 a NaN, and every NaN 0x7f in e4m3, 0x7e in e5m2.
template <int FractionBits>
struct Float8 {
  static_assert(FractionBits == 2 || FractionBits == 3, "Invar: Float8 is e5m2 or e4m3");
  static constexpr int fraction_bits = FractionBits;
  static constexpr int bias = FractionBits == 3 ? 7 : 15;
  static constexpr bool has_infinity = FractionBits == 2;

  std::uint8_t bits;

  Float8() = default;
  KOKKOS_FORCEINLINE_FUNCTION explicit Float8(float x) : bits(round_bits(x)) {}
  KOKKOS_FORCEINLINE_FUNCTION explicit operator float() const { return num::from_bits<float>(widen_bits(bits)); }
  /// The value with these bits.
  KOKKOS_FORCEINLINE_FUNCTION static Float8 from_bits(std::uint8_t b) {
    Float8 x;
    x.bits = b;
    return x;
  }

 private:
  static constexpr std::uint32_t infinity = has_infinity ? 0x7cu : 0x7fu;  // what is too large; in e4m3 a NaN

  KOKKOS_FORCEINLINE_FUNCTION static std::uint8_t round_bits(float x) {
    constexpr int dropped = 23 - fraction_bits;
    const std::uint32_t u = num::to_bits(x);
    const std::uint32_t sign = (u >> 24) & 0x80u;
    const std::uint32_t magnitude = u & 0x7fffffffu;
    // Normal result: rebias the exponent, then round away the dropped bits with ties to even.
    const std::uint32_t rebiased = magnitude - (std::uint32_t{127 - bias} << 23);
    const std::uint32_t half = (std::uint32_t{1} << (dropped - 1)) - 1;
    const std::uint32_t normal = (rebiased + half + ((rebiased >> dropped) & 1u)) >> dropped;
    // Subnormal result: an addend whose last bit is worth the smallest subnormal makes the sum round by itself.
    constexpr std::uint32_t addend = std::uint32_t{127 + 24 - bias - fraction_bits} << 23;
    const std::uint32_t subnormal =
        num::to_bits(num::from_bits<float>(magnitude) + num::from_bits<float>(addend)) - addend;
    std::uint32_t result = magnitude < (std::uint32_t{128 - bias} << 23) ? subnormal : normal;
    result = magnitude >= 0x7f800000u || result > infinity ? infinity : result;
    result = magnitude > 0x7f800000u ? (has_infinity ? 0x7eu : 0x7fu) : sign | result;
    return static_cast<std::uint8_t>(result);
  }
  KOKKOS_FORCEINLINE_FUNCTION static std::uint32_t widen_bits(std::uint8_t b) {
    const std::uint32_t sign = static_cast<std::uint32_t>(b & 0x80u) << 24;
    const std::uint32_t magnitude = b & 0x7fu;
    const std::uint32_t normal = (magnitude << (23 - fraction_bits)) + (std::uint32_t{127 - bias} << 23);
    const std::uint32_t special = 0x7f800000u | (has_infinity ? (magnitude & 3u) << 21 : 0x400000u);
    // A subnormal is its integer value times the smallest subnormal; both steps are exact.
    constexpr std::uint32_t smallest = std::uint32_t{128 - bias - fraction_bits} << 23;
    const std::uint32_t subnormal = num::to_bits(static_cast<float>(magnitude) * num::from_bits<float>(smallest));
    std::uint32_t result = magnitude < (1u << fraction_bits) ? subnormal : normal;
    result = magnitude >= infinity ? special : result;
    return sign | result;
  }
};

using float8_e4m3_t = Float8<3>;
using float8_e5m2_t = Float8<2>;

static_assert(sizeof(float8_e4m3_t) == 1 && std::is_trivially_copyable_v<float8_e4m3_t>);
static_assert(sizeof(float8_e5m2_t) == 1 && std::is_trivially_copyable_v<float8_e5m2_t>);

}  // namespace invar

#endif
