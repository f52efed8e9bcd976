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
///
/// \tparam T  float, or a vector of floats
template <class T>
struct Reduced {
  T high;
  T low;
  decltype(to_bits(T())) quadrant;
};

/// Reduction of 0 <= x < 2^17 by Cody and Waite: n = round(x·2/pi), and pi/2 in three floats, good to 77 bits.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION Reduced<T> reduce_moderate(T x) {
  const T shifted = fma(x, splat<T>(0x1.45f306p-1f), splat<T>(0x1.8p23f));
  const T n = sub(shifted, splat<T>(0x1.8p23f));
  const T first = fma(n, splat<T>(-0x1.921fb6p0f), x);  // exact
  // n times the second part as `second` (rounded so that first - second is exact) and the remainder in `rest`.
  const T second = sub(first, fma(n, splat<T>(0x1.777a5cp-25f), first));
  const T sum = sub(first, second);
  const T rest = fma(n, splat<T>(0x1.ee59dap-50f), fma(n, splat<T>(0x1.777a5cp-25f), second));
  const T high = add(sum, rest);
  return {high, add(sub(sum, high), rest), to_bits(shifted)};
}

/// w0 to w4, the one that `index` names. Selects, because an array would live in memory on a GPU.
KOKKOS_FORCEINLINE_FUNCTION std::uint64_t pick(std::uint32_t index, std::uint32_t w0, std::uint32_t w1,
                                               std::uint32_t w2, std::uint32_t w3, std::uint32_t w4) {
  std::uint32_t word = w0;
  word = index == 1u ? w1 : word;
  word = index == 2u ? w2 : word;
  word = index == 3u ? w3 : word;
  return index == 4u ? w4 : word;
}

/// Reduction of 2^17 <= x < infinity by Payne and Hanek, in integers: the 24-bit significand times those 96 bits of
/// 2/pi that matter modulo 4.
KOKKOS_FORCEINLINE_FUNCTION Reduced<float> reduce_huge(float x) {
  const std::uint32_t bits = to_bits(x);
  const std::uint64_t significand = (bits & 0x007fffffu) | 0x00800000u;
  const std::uint32_t offset = (bits >> 23) - 120u;  // x = significand·2^(offset − 30)
  const std::uint32_t index = offset >> 5;
  const std::uint32_t shift = offset & 31u;
  // 2/pi = 0.a2f9836e 4e441529 fc2757d1 f534ddc0 db629599 3c439041 fe5163ab… in hexadecimal.
  const std::uint64_t a = pick(index, 0u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u);
  const std::uint64_t b = pick(index, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u);
  const std::uint64_t c = pick(index, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u);
  const std::uint64_t d = pick(index, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu);
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
  const std::uint64_t angle =
      magnitude + upper * 0x921fb544u + ((upper * 0x42d18469u) >> 32) + ((lower * 0x921fb544u) >> 32);

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
KOKKOS_FORCEINLINE_FUNCTION Reduced<float> reduce_angle(float x) {
  return x < 0x1p17f ? reduce_moderate(x) : reduce_huge(x);
}

/// sin(high + low).
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T sin_polynomial(const Reduced<T>& r) {
  const T square = mul_unfenced(r.high, r.high);
  T q = splat<T>(-0x1.9954e8p-13f);
  q = fma(q, square, splat<T>(0x1.11077ap-7f));
  q = fma(q, square, splat<T>(-0x1.555546p-3f));
  // low times the cosine, 1 - high²/2.
  const T low = fma(mul_unfenced(r.low, mul_unfenced(r.high, splat<T>(-0.5f))), r.high, r.low);
  return add(r.high, fma(mul_unfenced(square, r.high), q, low));
}

/// cos(high + low).
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T cos_polynomial(const Reduced<T>& r) {
  const T square = mul_unfenced(r.high, r.high);
  const T half = mul_unfenced(r.high, splat<T>(-0.5f));
  T q = splat<T>(0x1.99e912p-16f);
  q = fma(q, square, splat<T>(-0x1.6c0c2ap-10f));
  q = fma(q, square, splat<T>(0x1.55554ap-5f));
  // 1 - high²/2 as a sum of two floats.
  const T high = fma(half, r.high, splat<T>(1.0f));
  const T rest = fma(half, r.high, sub(splat<T>(1.0f), high));
  return add(high, fma(mul_unfenced(square, square), q, fma(negate(r.low), r.high, rest)));
}

/// sin(r + quadrant·pi/2), its sign bit flipped by `sign`.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T sin_of_quadrant(const Reduced<T>& r, decltype(to_bits(T())) quadrant,
                                              decltype(to_bits(T())) sign) {
  const T value = select((quadrant & 1u) != 0u, cos_polynomial(r), sin_polynomial(r));
  return from_bits<T>(to_bits(value) ^ ((quadrant & 2u) << 30) ^ sign);
}

}  // namespace invar::num::detail

#endif
