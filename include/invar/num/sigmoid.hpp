// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The logistic function.
#ifndef INVAR_NUM_SIGMOID_HPP
#define INVAR_NUM_SIGMOID_HPP

#include <invar/num/exponential.hpp>

namespace invar::num {

namespace detail {

template <class T>
KOKKOS_FORCEINLINE_FUNCTION T sigmoid_formula(T x) {
  const auto negative = (to_bits(x) >> 31) != 0u;
  const T magnitude = from_bits<T>(to_bits(x) & 0x7fffffffu);
  const T clamped = lesser(magnitude, splat<T>(104.0f));

  // z = e^-|x| = (high + low)·power
  const Scaled<T> e = exponential(negate(clamped));
  const T high = add(e.high, e.low);
  const T low = sub(e.low, sub(high, e.high));
  const T n = greater(splat<T>(round_to_integer - 126.0f), e.shifted);
  const T power = from_bits<T>((to_bits(n) << 23) + 0x3f800000u);

  // 1 + z as a sum of two floats.
  const T one = splat<T>(1.0f);
  const T divisor = fma(high, power, one);
  const T divisor_rest = fma(low, power, fma(high, power, sub(one, divisor)));

  const T a = select(negative, high, one);
  const T a_rest = select(negative, low, splat<T>(0.0f));
  const T shifted = select(negative, e.shifted, splat<T>(round_to_integer));
  // One correction of the quotient; it is so small that 4 bits of 1/(1 + z) are enough for it.
  const T quotient = div(a, divisor);
  const T residue = add(fma(negate(quotient), divisor, a), fma(negate(quotient), divisor_rest, a_rest));
  const T corrected = fma(residue, fma(divisor, splat<T>(-0.5f), splat<T>(1.457f)), quotient);
  return select(x != x, splat<T>(canonical_nan<float>()), scale_by_power(corrected, shifted));
}

}  // namespace detail

/// The logistic function 1/(1 + e^−x), the same bits everywhere.
///
/// With z = e^−|x|: 1/(1 + z) for x >= 0 and z/(1 + z) for x < 0, so that no digits are lost on either side. z and 1 +
/// z are sums of two floats, and the one quotient is corrected once.
///
/// sigmoid(±0) = 1/2; sigmoid(+∞) = 1; sigmoid(−∞) and every x < −104 give +0; a NaN gives the canonical NaN. Subnormal
/// results are kept. Largest error over all floats: 0.700 ulp for normal results (x = -0x1.a54e1cp+2), 0.771 ulp for
/// subnormal ones, which are rounded twice (x = -0x1.5ed25p+6).
KOKKOS_FORCEINLINE_FUNCTION float sigmoid(float x) { return detail::sigmoid_formula(x); }

template <Symbolic T>
KOKKOS_FORCEINLINE_FUNCTION T sigmoid(T x) {
  return T::apply(Operation::sigmoid, x);
}

/// There is no double version; without this line a double would be narrowed silently.
double sigmoid(double) = delete;

}  // namespace invar::num

#endif
