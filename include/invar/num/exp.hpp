// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The exponential function.
#ifndef INVAR_NUM_EXP_HPP
#define INVAR_NUM_EXP_HPP

#include <invar/num/exponential.hpp>

namespace invar::num {

namespace detail {

template <class T>
KOKKOS_FORCEINLINE_FUNCTION T exp_formula(T x) {
  const Scaled<T> e = exponential(x);
  T result = scale_by_power(add(e.high, e.low), e.shifted);
  result = select(x < splat<T>(-104.0f), splat<T>(0.0f), result);
  result = select(x > splat<T>(0x1.62e42ep6f), splat<T>(from_bits<float>(0x7f800000u)), result);
  return select(x != x, splat<T>(canonical_nan<float>()), result);
}

/// For −105 ≤ x ≤ 0: the power is applied 2^64 too large, where everything is normal, and the last product rounds into
/// the subnormals.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T exp_nonpositive_formula(T x) {
  const Scaled<T> e = exponential<64>(x);
  const T lifted = from_bits<T>(to_bits(add(e.high, e.low)) + (to_bits(e.shifted) << 23));
  return mul(lifted, splat<T>(0x1p-64f));
}

}  // namespace detail

/// e^x, the same bits everywhere; see detail::exponential for formula and range reduction.
///
/// exp(±0) = 1; exp(−∞) and every x < −104 give +0; x > 88.722839 and +∞ give +∞; a NaN gives the canonical NaN.
/// Subnormal results are kept. Largest error over all floats: 0.672 ulp for normal results (x = -0x1.a5581cp+2),
/// 0.771 ulp for subnormal ones, which are rounded twice (x = -0x1.5ed25p+6).
KOKKOS_FORCEINLINE_FUNCTION float exp(float x) { return detail::exp_formula(x); }

/// exp(x) for x ≤ 0, not NaN: the same bits with fewer instructions on a GPU and in vectors.
KOKKOS_FORCEINLINE_FUNCTION float exp_nonpositive(float x) {
#if defined(INVAR_DEVICE_PASS)
  // Below −104 the result rounds to zero; so does that of the bound.
  return detail::exp_nonpositive_formula(max(x, -105.0f));
#else
  return exp(x);
#endif
}

template <Symbolic T>
KOKKOS_FORCEINLINE_FUNCTION T exp(T x) {
  return T::apply(Operation::exp, x);
}
template <Symbolic T>
KOKKOS_FORCEINLINE_FUNCTION T exp_nonpositive(T x) {
  return exp(x);
}

/// There is no double version; without this line a double would be narrowed silently.
double exp(double) = delete;

}  // namespace invar::num

#endif
