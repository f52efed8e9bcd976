// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The logistic function.
#ifndef INVAR_NUM_SIGMOID_HPP
#define INVAR_NUM_SIGMOID_HPP

#include <invar/num/exponential.hpp>

namespace invar::num {

/// The logistic function 1/(1 + e^−x), the same bits everywhere.
///
/// With z = e^−|x|: 1/(1 + z) for x >= 0 and z/(1 + z) for x < 0, so that no digits are lost on either side. z and 1 +
/// z are sums of two floats, and the one quotient is corrected once.
///
/// sigmoid(±0) = 1/2; sigmoid(+∞) = 1; sigmoid(−∞) and every x < −104 give +0; a NaN gives the canonical NaN. Subnormal
/// results are kept. Largest error over all floats: 0.700 ulp for normal results (x = -0x1.a54e1cp+2), 0.771 ulp for
/// subnormal ones, which are rounded twice (x = -0x1.5ed25p+6).
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

  // 1 + z as a sum of two floats.
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
