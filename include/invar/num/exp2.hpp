// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Two to the power x.
#ifndef INVAR_NUM_EXP2_HPP
#define INVAR_NUM_EXP2_HPP

#include <invar/num/exponential.hpp>

namespace invar::num {

namespace detail {

template <class T>
KOKKOS_FORCEINLINE_FUNCTION T exp2_formula(T x) {
  const T shifted = add(x, splat<T>(round_to_integer));
  const T f = sub(x, sub(shifted, splat<T>(round_to_integer)));

  T q = splat<T>(0x1.41788ap-13f);
  q = fma(q, f, splat<T>(0x1.5f094ap-10f));
  q = fma(q, f, splat<T>(0x1.3b2dd4p-7f));
  q = fma(q, f, splat<T>(0x1.c6af7ap-5f));
  q = fma(q, f, splat<T>(0x1.ebfbdcp-3f));
  const T linear = fma(f, splat<T>(0x1.62e43p-1f), splat<T>(1.0f));
  const T tail = fma(f, splat<T>(0x1.62e43p-1f), sub(splat<T>(1.0f), linear));
  T result = scale_by_power(add(linear, fma(mul_unfenced(f, f), q, tail)), shifted);
  result = select(x < splat<T>(-150.0f), splat<T>(0.0f), result);
  result = select(x >= splat<T>(128.0f), splat<T>(from_bits<float>(0x7f800000u)), result);
  return select(x != x, splat<T>(canonical_nan<float>()), result);
}

}  // namespace detail

/// 2^x, the same bits everywhere.
///
/// n = round(x), f = x − n (exact), 2^f = 1 + f·L + f²·q(f) with L the float nearest to ln 2 and q the minimax
/// polynomial of degree 4 rounded to floats. The sum 1 + f·L is kept as two floats.
///
/// Exact where x is an integer, so exp2(±0) = 1; −∞ and every x < −150 give +0; x >= 128 and +∞ give +∞; a NaN gives
/// the canonical NaN. Subnormal results are kept. Largest error over all floats: 0.617 ulp for normal results (x =
/// -0x1.ff1c82p-2), 0.772 ulp for subnormal ones, which are rounded twice (x = -0x1.f93164p+6).
KOKKOS_FORCEINLINE_FUNCTION float exp2(float x) { return detail::exp2_formula(x); }

template <Symbolic T>
KOKKOS_FORCEINLINE_FUNCTION T exp2(T x) {
  return T::apply(Operation::exp2, x);
}

/// There is no double version; without this line a double would be narrowed silently.
double exp2(double) = delete;

}  // namespace invar::num

#endif
