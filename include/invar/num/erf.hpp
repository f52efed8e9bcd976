// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The error function.
#ifndef INVAR_NUM_ERF_HPP
#define INVAR_NUM_ERF_HPP

#include <invar/num/exponential.hpp>

namespace invar::num {

KOKKOS_FORCEINLINE_FUNCTION float erf(float x) {
  const std::uint32_t sign = to_bits(x) & 0x80000000u;
  const float magnitude = from_bits<float>(to_bits(x) & 0x7fffffffu);

  const float square = mul_unfenced(magnitude, magnitude);
  float p = 0x1.4c5cb4p-14f;
  p = fma(p, square, -0x1.a5197ap-11f);
  p = fma(p, square, 0x1.542fecp-8f);
  p = fma(p, square, -0x1.b7fec4p-6f);
  p = fma(p, square, 0x1.ce2d52p-4f);
  p = fma(p, square, -0x1.81274p-2f);
  p = fma(p, square, 0x1.06eba8p-3f);
  const float small = fma(p, magnitude, magnitude);

  // t = −log(erfc|x|), negated; beyond 4 the result is 1 anyway.
  const float clamped = magnitude < 4.0f ? magnitude : 4.0f;
  float t = 0x1.853474p-13f;
  t = fma(t, clamped, -0x1.815134p-9f);
  t = fma(t, clamped, 0x1.654448p-6f);
  t = fma(t, clamped, -0x1.a60b9ep-4f);
  t = fma(t, clamped, -0x1.46c55cp-1f);
  t = fma(t, clamped, -0x1.2085bep0f);
  t = fma(t, clamped, -0x1.72b8d6p-12f);
  const detail::Scaled e = detail::exponential(t);
  const float power = from_bits<float>((to_bits(e.shifted) << 23) + 0xbf800000u);  // −2^n
  const float high = fma(power, e.high, 1.0f);
  const float rest = fma(power, e.high, sub(1.0f, high));
  const float large = add(high, fma(power, e.low, rest));

  const float result = magnitude < 1.0f ? small : large;
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
