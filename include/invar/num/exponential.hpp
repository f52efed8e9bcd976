// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What the exponential functions share: e^x as a value near 1 times a power of two, and the step that joins the two.
#ifndef INVAR_NUM_EXPONENTIAL_HPP
#define INVAR_NUM_EXPONENTIAL_HPP

#include <invar/num/arithmetic.hpp>

#include <cstdint>

namespace invar::num::detail {

/// x + round_to_integer has the nearest integer to x in its low bits, for |x| < 2^22 (ties to even).
inline constexpr float round_to_integer = 0x1.8p23f;

/// (high + low)·2^n, where high + low is in [0.7, 1.42], |low| < 0.07, and shifted is n + Lift + round_to_integer.
struct Scaled {
  float high;
  float low;
  float shifted;
};

/// e^x for |x| < 2^22/log2(e), the sum high + low to about 2^-25.5 of its value for |x| <= 104.
///
/// n = round(x·log2(e)), r = x − n·ln 2 with ln 2 in two parts (Cody and Waite), e^r = 1 + r + r²·q(r) with q the
/// minimax polynomial of degree 4 rounded to floats. The sum 1 + r is kept exactly, as high and part of low.
///
/// \tparam Lift  an integer that is added to n on its way into `shifted`; it changes nothing else
template <int Lift = 0>
KOKKOS_FORCEINLINE_FUNCTION Scaled exponential(float x) {
  constexpr float shift = round_to_integer + static_cast<float>(Lift);
  const float shifted = fma(x, 0x1.715476p0f, shift);
  const float n = sub(shifted, shift);
  // The first part of ln 2 has 15 significant bits, so that n times it and `head` are exact.
  const float head = fma(n, -0x1.62e4p-1f, x);
  const float r = fma(n, -0x1.7f7d1cp-20f, head);

  float q = 0x1.6850e2p-10f;
  q = fma(q, r, 0x1.123bccp-7f);
  q = fma(q, r, 0x1.555b98p-5f);
  q = fma(q, r, 0x1.55548ep-3f);
  q = fma(q, r, 0x1.fffff8p-2f);

  const float high = add(1.0f, head);
  const float rest = fma(n, -0x1.7f7d1cp-20f, add(sub(1.0f, high), head));
  return {high, fma(mul_unfenced(r, r), q, rest), shifted};
}

/// p·2^n for p in [0.25, 2) and −150 ≤ n ≤ 128, rounded to nearest where the result is subnormal. `shifted` is
/// n + round_to_integer. Other n give garbage bits, which the caller selects away.
///
/// No product is formed, so nothing here can be fused into the caller's sum. Adding 2^-62 to the value scaled by
/// 2^64 lines its last bit up with that of the subnormals, so that the addition rounds it.
KOKKOS_FORCEINLINE_FUNCTION float scale_by_power(float p, float shifted) {
  const std::uint32_t lifted = to_bits(p) + (to_bits(shifted) << 23) + (64u << 23);
  const std::uint32_t normal = lifted - (64u << 23);
  const std::uint32_t subnormal = to_bits(add(from_bits<float>(lifted), 0x1p-62f)) - (65u << 23);
  return from_bits<float>(lifted < (65u << 23) ? subnormal : normal);
}

}  // namespace invar::num::detail

#endif
