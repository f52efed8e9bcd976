// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The natural logarithm.
#ifndef INVAR_NUM_LOG_HPP
#define INVAR_NUM_LOG_HPP

#include <invar/num/arithmetic.hpp>

#include <cstdint>

namespace invar::num {

/// The natural logarithm, the same bits everywhere.
///
/// x = 2^k·m with m in [2/3, 4/3), f = m − 1 (exact), log x = k·ln 2 + f − f²/2 + f³·q(f) with ln 2 in two parts and q
/// the minimax polynomial of degree 8 rounded to floats. The first three terms are summed as two floats.
///
/// log(1) = +0; log(±0) = −∞; log(+∞) = +∞; every x < 0 and NaN give the canonical NaN. Subnormal arguments are taken
/// at their value. Largest error over all floats: 0.590 ulp (x = 0x1.57c40cp-1).
KOKKOS_FORCEINLINE_FUNCTION float log(float x) {
  const std::uint32_t x_bits = to_bits(x);
  // A subnormal is made normal first; the product is exact.
  const bool subnormal = x_bits < 0x00800000u;
  const std::uint32_t bits = subnormal ? to_bits(mul_unfenced(x, 0x1p23f)) : x_bits;
  const std::uint32_t exponent_offset = subnormal ? 0x4b400000u - 23u : 0x4b400000u;

  // x = 2^k·m with m in [2/3, 4/3); f = m − 1 is exact.
  const std::uint32_t exponent_bits = (bits - 0x3f2aaaabu) & 0xff800000u;
  // An integer added to the bits of 1.5·2^23 becomes a float by subtracting 1.5·2^23. The compiler's own conversion
  // would keep GCC from vectorising, which holds that it may trap.
  const std::uint32_t exponent = static_cast<std::uint32_t>(static_cast<std::int32_t>(exponent_bits) >> 23);
  const float k = sub(from_bits<float>(exponent + exponent_offset), 0x1.8p23f);
  const float f = sub(from_bits<float>(bits - exponent_bits), 1.0f);

  float q = 0x1.ed5ba4p-4f;
  q = fma(q, f, -0x1.075cacp-3f);
  q = fma(q, f, 0x1.b7f04ap-4f);
  q = fma(q, f, -0x1.f3654cp-4f);
  q = fma(q, f, 0x1.24fd8ap-3f);
  q = fma(q, f, -0x1.559a72p-3f);
  q = fma(q, f, 0x1.999706p-3f);
  q = fma(q, f, -0x1.ffff06p-3f);
  q = fma(q, f, 0x1.555558p-2f);

  // k·ln 2 + f is kept exactly, as sum and part of rest (the first part of ln 2 has 15 significant bits), and
  // −f²/2 is added to it in the same way.
  const float sum = fma(k, 0x1.62e4p-1f, f);
  const float rest = fma(k, 0x1.7f7d1cp-20f, add(fma(k, 0x1.62e4p-1f, negate(sum)), f));
  const float half = mul_unfenced(f, -0.5f);
  const float high = fma(half, f, sum);
  const float low = add(fma(half, f, sub(sum, high)), rest);
  const float result = add(high, fma(mul_unfenced(mul_unfenced(f, f), f), q, low));

  // Zero, infinity, NaN and everything negative.
  std::uint32_t special = x_bits == 0x7f800000u ? x_bits : 0x7fc00000u;
  special = (x_bits << 1) == 0u ? 0xff800000u : special;
  return from_bits<float>(x_bits - 1u < 0x7f7fffffu ? to_bits(result) : special);
}

template <Symbolic T>
KOKKOS_FORCEINLINE_FUNCTION T log(T x) {
  return T::apply(Operation::log, x);
}

/// There is no double version; without this line a double would be narrowed silently.
double log(double) = delete;

}  // namespace invar::num

#endif
