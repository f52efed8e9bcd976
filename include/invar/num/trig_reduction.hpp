// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What sine and cosine share: the reduction of the argument by multiples of pi/2, and the two polynomials.
#ifndef INVAR_NUM_TRIG_REDUCTION_HPP
#define INVAR_NUM_TRIG_REDUCTION_HPP

#include <invar/num/arithmetic.hpp>

#include <cstdint>

namespace invar::num::detail {

/// An angle as quadrant·pi/2 + high + low, with high in [−pi/4, pi/4] (and a little more) and |low| at most half an
/// ulp of high. Of the quadrant only the two lowest bits count.
struct Reduced {
  float high;
  float low;
  std::uint32_t quadrant;
};

/// Reduction of 0 <= x < 2^17 by Cody and Waite: n = round(x·2/pi), and pi/2 in three floats, good to 77 bits.
KOKKOS_FORCEINLINE_FUNCTION Reduced reduce_moderate(float x) {
  const float shifted = fma(x, 0x1.45f306p-1f, 0x1.8p23f);
  const float n = sub(shifted, 0x1.8p23f);
  const float first = fma(n, -0x1.921fb6p0f, x);  // exact
  // n times the second part as `second` (rounded so that first - second is exact) and the remainder in `rest`.
  const float second = sub(first, fma(n, 0x1.777a5cp-25f, first));
  const float sum = sub(first, second);
  const float rest = fma(n, 0x1.ee59dap-50f, fma(n, 0x1.777a5cp-25f, second));
  const float high = add(sum, rest);
  return {high, add(sub(sum, high), rest), to_bits(shifted)};
}

/// Word `index` (0 to 7) of 2/pi·2^32 in 32-bit digits after the binary point. A chain of selects, because an array
/// would live in memory on a GPU.
KOKKOS_FORCEINLINE_FUNCTION std::uint64_t two_over_pi_word(std::uint32_t index) {
  std::uint64_t word = 0u;
  word = index == 1u ? 0xa2f9836eu : word;
  word = index == 2u ? 0x4e441529u : word;
  word = index == 3u ? 0xfc2757d1u : word;
  word = index == 4u ? 0xf534ddc0u : word;
  word = index == 5u ? 0xdb629599u : word;
  word = index == 6u ? 0x3c439041u : word;
  word = index == 7u ? 0xfe5163abu : word;
  return word;
}

/// Reduction of 2^17 <= x < infinity by Payne and Hanek, in integers: the 24-bit significand times those 96 bits of
/// 2/pi that matter modulo 4.
KOKKOS_FORCEINLINE_FUNCTION Reduced reduce_huge(float x) {
  const std::uint32_t bits = to_bits(x);
  const std::uint64_t significand = (bits & 0x007fffffu) | 0x00800000u;
  const std::uint32_t offset = (bits >> 23) - 120u;  // x = significand·2^(offset − 30)
  const std::uint32_t index = offset >> 5;
  const std::uint32_t shift = offset & 31u;
  const std::uint64_t a = two_over_pi_word(index);
  const std::uint64_t b = two_over_pi_word(index + 1u);
  const std::uint64_t c = two_over_pi_word(index + 2u);
  const std::uint64_t d = two_over_pi_word(index + 3u);
  const std::uint64_t w0 = (((a << 32) | b) << shift) >> 32;
  const std::uint64_t w1 = (((b << 32) | c) << shift) >> 32;
  const std::uint64_t w2 = (((c << 32) | d) << shift) >> 32;
  // x·2/pi modulo 4 in units of 2^-62.
  const std::uint64_t turns = ((significand * w0) << 32) + significand * w1 + ((significand * w2) >> 32);

  const std::uint64_t quadrant = (turns + (std::uint64_t{1} << 61)) >> 62;
  const std::uint64_t fraction = turns - (quadrant << 62);
  const std::uint64_t sign = fraction >> 63;
  const std::uint64_t magnitude = (fraction ^ (0u - sign)) + sign;

  // magnitude·pi/2 = magnitude + magnitude·(0x921fb544 42d18469 / 2^64), the second by halves.
  const std::uint64_t upper = magnitude >> 32;
  const std::uint64_t lower = magnitude & 0xffffffffu;
  const std::uint64_t angle = magnitude + upper * 0x921fb544u + ((upper * 0x42d18469u) >> 32) + ((lower * 0x921fb544u) >> 32);

  // The angle, below 2^62 units, in three pieces of 22, 20 and 20 bits, each made a float by putting it into the
  // significand of a power of two and subtracting that.
  const std::uint32_t top_bits = static_cast<std::uint32_t>(angle >> 40);
  const std::uint32_t middle_bits = static_cast<std::uint32_t>(angle >> 20) & 0xfffffu;
  const std::uint32_t bottom_bits = static_cast<std::uint32_t>(angle) & 0xfffffu;
  const float top = sub(from_bits<float>(0x40000000u | top_bits), 2.0f);
  const float middle = sub(from_bits<float>(0x36000000u | middle_bits), 0x1p-19f);
  const float bottom = sub(from_bits<float>(0x2c000000u | bottom_bits), 0x1p-39f);
  const float sum = add(top, middle);
  const float rest = add(add(sub(top, sum), middle), bottom);
  const float high = add(sum, rest);
  const float low = add(sub(sum, high), rest);
  const std::uint32_t sign_bit = static_cast<std::uint32_t>(sign) << 31;
  return {from_bits<float>(to_bits(high) ^ sign_bit), from_bits<float>(to_bits(low) ^ sign_bit),
          static_cast<std::uint32_t>(quadrant)};
}

/// The reduction of any finite x >= 0; infinity and NaN give garbage.
KOKKOS_FORCEINLINE_FUNCTION Reduced reduce_angle(float x) {
  return x < 0x1p17f ? reduce_moderate(x) : reduce_huge(x);
}

/// sin(high + low).
KOKKOS_FORCEINLINE_FUNCTION float sin_polynomial(Reduced r) {
  const float square = mul_unfenced(r.high, r.high);
  float q = -0x1.9954e8p-13f;
  q = fma(q, square, 0x1.11077ap-7f);
  q = fma(q, square, -0x1.555546p-3f);
  // low times the cosine, 1 - high²/2.
  const float low = fma(mul_unfenced(r.low, mul_unfenced(r.high, -0.5f)), r.high, r.low);
  return add(r.high, fma(mul_unfenced(square, r.high), q, low));
}

/// cos(high + low).
KOKKOS_FORCEINLINE_FUNCTION float cos_polynomial(Reduced r) {
  const float square = mul_unfenced(r.high, r.high);
  const float half = mul_unfenced(r.high, -0.5f);
  float q = 0x1.99e912p-16f;
  q = fma(q, square, -0x1.6c0c2ap-10f);
  q = fma(q, square, 0x1.55554ap-5f);
  // 1 - high²/2 as a sum of two floats.
  const float high = fma(half, r.high, 1.0f);
  const float rest = fma(half, r.high, sub(1.0f, high));
  return add(high, fma(mul_unfenced(square, square), q, fma(negate(r.low), r.high, rest)));
}

/// sin(r + quadrant·pi/2), its sign bit flipped by `sign`.
KOKKOS_FORCEINLINE_FUNCTION float sin_of_quadrant(Reduced r, std::uint32_t quadrant, std::uint32_t sign) {
  const float value = (quadrant & 1u) != 0u ? cos_polynomial(r) : sin_polynomial(r);
  return from_bits<float>(to_bits(value) ^ ((quadrant & 2u) << 30) ^ sign);
}

}  // namespace invar::num::detail

#endif
