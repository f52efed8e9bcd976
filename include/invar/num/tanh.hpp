// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The hyperbolic tangent.
#ifndef INVAR_NUM_TANH_HPP
#define INVAR_NUM_TANH_HPP

#include <invar/num/exponential.hpp>

namespace invar::num {

/// The hyperbolic tangent, the same bits everywhere.
///
/// For |x| < 1/2: x + x³·q(x²) with q the minimax polynomial of degree 4 rounded to floats. Otherwise 1 − 2/(e^(2|x|) +
/// 1) with the sign of x, where the denominator, the quotient and the difference are each a sum of two floats.
///
/// Odd: tanh(±0) = ±0, tanh(±∞) = ±1, and the result is ±1 from about |x| = 9.01 on; a NaN gives the canonical NaN.
/// Largest error over all floats: 0.650 ulp (x = -0x1.e349fep-2).
KOKKOS_FORCEINLINE_FUNCTION float tanh(float x) {
  const std::uint32_t sign = to_bits(x) & 0x80000000u;
  const float magnitude = from_bits<float>(to_bits(x) & 0x7fffffffu);

  const float square = mul_unfenced(magnitude, magnitude);
  float q = -0x1.c09252p-8f;
  q = fma(q, square, 0x1.5edc72p-6f);
  q = fma(q, square, -0x1.b9bc72p-5f);
  q = fma(q, square, 0x1.11101cp-3f);
  q = fma(q, square, -0x1.555554p-2f);
  const float small = fma(mul_unfenced(q, square), magnitude, magnitude);

  // e^(2|x|) + 1 as a sum of two floats; beyond 10 the result is 1 anyway.
  const float clamped = magnitude < 10.0f ? magnitude : 10.0f;
  const detail::Scaled<float> e = detail::exponential(add(clamped, clamped));
  const float power = from_bits<float>((to_bits(e.shifted) << 23) + 0x3f800000u);
  const float p = add(e.high, e.low);
  const float p_rest = sub(e.low, sub(p, e.high));
  const float high = fma(p, power, 1.0f);
  const float low = fma(p_rest, power, add(fma(p, power, negate(high)), 1.0f));

  // w = 2/(high + low): a quotient, and what is missing from w·(high + low).
  const float w = div(2.0f, high);
  const float residue = fma(negate(w), low, fma(negate(w), high, 2.0f));
  const float large = sub(1.0f, w);
  const float large_rest = fma(residue, mul_unfenced(w, -0.5f), sub(sub(1.0f, large), w));
  const float large_sum = add(large, large_rest);

  const float result = magnitude < 0.5f ? small : large_sum;
  return x != x ? canonical_nan<float>() : from_bits<float>(to_bits(result) | sign);
}

template <Symbolic T>
KOKKOS_FORCEINLINE_FUNCTION T tanh(T x) {
  return T::apply(Operation::tanh, x);
}

/// There is no double version; without this line a double would be narrowed silently.
double tanh(double) = delete;

}  // namespace invar::num

#endif
