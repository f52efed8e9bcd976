// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The logistic function.
#ifndef INVAR_NUM_SIGMOID_HPP
#define INVAR_NUM_SIGMOID_HPP

#include <invar/num/exponential.hpp>

namespace invar::num {

KOKKOS_FORCEINLINE_FUNCTION float sigmoid(float x) {
  const bool negative = is_negative(x);
  const float magnitude = from_bits<float>(to_bits(x) & 0x7fffffffu);
  const float clamped = magnitude < 104.0f ? magnitude : 104.0f;

  // z = e^-|x| = (high + low)·power
  const detail::Scaled e = detail::exponential(negate(clamped));
  const float high = add(e.high, e.low);
  const float low = sub(e.low, sub(high, e.high));
  const float n = e.shifted < detail::round_to_integer - 126.0f ? detail::round_to_integer - 126.0f : e.shifted;
  const float power = from_bits<float>((to_bits(n) << 23) + 0x3f800000u);

  // 1 + z as a sum of two floats, and its reciprocal as another.
  const float divisor = fma(high, power, 1.0f);
  const float divisor_rest = fma(low, power, fma(high, power, sub(1.0f, divisor)));

  const float a = negative ? high : 1.0f;
  const float a_rest = negative ? low : 0.0f;
  const float shifted = negative ? e.shifted : detail::round_to_integer;
  // One correction of the quotient; it is so small that 4 bits of 1/(1 + z) are enough for it.
  const float quotient = div(a, divisor);
  const float residue = add(fma(negate(quotient), divisor, a), fma(negate(quotient), divisor_rest, a_rest));
  const float corrected = fma(residue, fma(divisor, -0.5f, 1.457f), quotient);
  const float result = detail::scale_by_power(corrected, shifted);
  return x != x ? canonical_nan<float>() : result;
}

template <Symbolic T>
KOKKOS_FORCEINLINE_FUNCTION T sigmoid(T x) {
  return T::apply(Operation::sigmoid, x);
}

/// There is no double version; without this line a double would be narrowed silently.
double sigmoid(double) = delete;

}  // namespace invar::num

#endif
