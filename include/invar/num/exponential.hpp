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
///
/// \tparam T  float, or a vector of floats, as in all formulas here
template <class T>
struct Scaled {
  T high;
  T low;
  T shifted;
};

/// e^x for |x| < 2^22/log2(e), the sum high + low to about 2^-25.5 of its value for |x| <= 104.
///
/// n = round(x·log2(e)), r = x − n·ln 2 with ln 2 in two parts (Cody and Waite), e^r = 1 + r + r²·q(r) with q the
/// minimax polynomial of degree 4 rounded to floats. The sum 1 + r is kept exactly, as high and part of low.
///
/// \tparam Lift  an integer that is added to n on its way into `shifted`; it changes nothing else
template <int Lift = 0, class T>
KOKKOS_FORCEINLINE_FUNCTION Scaled<T> exponential(T x) {
  const T shift = splat<T>(round_to_integer + static_cast<float>(Lift));
  const T shifted = fma(x, splat<T>(0x1.715476p0f), shift);
  const T n = sub(shifted, shift);
  // The first part of ln 2 has 15 significant bits, so that n times it and `head` are exact.
  const T head = fma(n, splat<T>(-0x1.62e4p-1f), x);
  const T r = fma(n, splat<T>(-0x1.7f7d1cp-20f), head);

  T q = splat<T>(0x1.6850e2p-10f);
  q = fma(q, r, splat<T>(0x1.123bccp-7f));
  q = fma(q, r, splat<T>(0x1.555b98p-5f));
  q = fma(q, r, splat<T>(0x1.55548ep-3f));
  q = fma(q, r, splat<T>(0x1.fffff8p-2f));

  const T high = add(splat<T>(1.0f), head);
  const T rest = fma(n, splat<T>(-0x1.7f7d1cp-20f), add(sub(splat<T>(1.0f), high), head));
  return {high, fma(mul_unfenced(r, r), q, rest), shifted};
}

/// p·2^n for p in [0.25, 2) and −150 ≤ n ≤ 128, rounded to nearest where the result is subnormal. `shifted` is
/// n + round_to_integer. Other n give garbage bits, which the caller selects away.
///
/// No product is formed, so nothing here can be fused into the caller's sum. Adding 2^-62 to the value scaled by
/// 2^64 lines its last bit up with that of the subnormals, so that the addition rounds it.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T scale_by_power(T p, T shifted) {
  const auto lifted = to_bits(p) + (to_bits(shifted) << 23) + (64u << 23);
  const auto normal = lifted - (64u << 23);
  const auto subnormal = to_bits(add(from_bits<T>(lifted), splat<T>(0x1p-62f))) - (65u << 23);
  return from_bits<T>(lifted < (65u << 23) ? subnormal : normal);
}

}  // namespace invar::num::detail

#endif
