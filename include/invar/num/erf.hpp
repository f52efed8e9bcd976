// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The error function.
#ifndef INVAR_NUM_ERF_HPP
#define INVAR_NUM_ERF_HPP

#include <invar/num/exponential.hpp>

namespace invar::num {

/// The error function 2/√π·∫₀ˣ exp(−t²)dt, the same bits everywhere.
///
/// For |x| < 7/8: x + x·p(x²) with p the minimax polynomial of degree 6 rounded to floats. Otherwise 1 − e^t(|x|) with
/// the sign of x, where t approximates log(erfc |x|) by a polynomial of degree 6, fitted with the weight erfc on
/// [0.85, 3.93].
///
/// Odd: erf(±0) = ±0, erf(±∞) = ±1, and the result is ±1 from about |x| = 3.92 on; a NaN gives the canonical NaN.
/// Largest error over all floats: 0.813 ulp (x = 0x1.37e2dcp+0).
KOKKOS_FORCEINLINE_FUNCTION float erf(float x) {
  const std::uint32_t sign = to_bits(x) & 0x80000000u;
  const float magnitude = from_bits<float>(to_bits(x) & 0x7fffffffu);

  const float square = mul_unfenced(magnitude, magnitude);
  float p = 0x1.617ef8p-14f;
  p = fma(p, square, -0x1.ab5d06p-11f);
  p = fma(p, square, 0x1.54de26p-8f);
  p = fma(p, square, -0x1.b80f88p-6f);
  p = fma(p, square, 0x1.ce2dfep-4f);
  p = fma(p, square, -0x1.812742p-2f);
  p = fma(p, square, 0x1.06eba8p-3f);
  const float small = fma(p, magnitude, magnitude);

  // t = log(erfc |x|); beyond 4 the result is 1 anyway.
  const float clamped = magnitude < 4.0f ? magnitude : 4.0f;
  float slope = 0x1.a8b508p-13f;
  slope = fma(slope, clamped, -0x1.974042p-9f);
  slope = fma(slope, clamped, 0x1.704a1cp-6f);
  slope = fma(slope, clamped, -0x1.abd0f6p-4f);
  slope = fma(slope, clamped, -0x1.45f0cp-1f);
  slope = fma(slope, clamped, -0x1.20c598p0f);
  const float t = fma(slope, clamped, -0x1.e179c8p-14f);
  // What the last rounding lost of t: e^(t + lost) = e^t + e^t·lost.
  const float lost = sub(fma(slope, clamped, negate(t)), 0x1.e179c8p-14f);
  const detail::Scaled<float> e = detail::exponential(t);
  const float power = from_bits<float>((to_bits(e.shifted) << 23) + 0xbf800000u);  // −2^n
  const float high = fma(power, e.high, 1.0f);
  const float rest = fma(power, e.high, sub(1.0f, high));
  const float large = add(high, fma(power, fma(e.high, lost, e.low), rest));

  const float result = magnitude < 0.875f ? small : large;
  return x != x ? canonical_nan<float>() : from_bits<float>(to_bits(result) | sign);
}

template <Symbolic T>
KOKKOS_FORCEINLINE_FUNCTION T erf(T x) {
  return T::apply(Operation::erf, x);
}

/// There is no double version; without this line a double would be narrowed silently.
double erf(double) = delete;

}  // namespace invar::num

#endif
