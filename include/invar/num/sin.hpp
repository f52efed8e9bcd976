// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The sine.
#ifndef INVAR_NUM_SIN_HPP
#define INVAR_NUM_SIN_HPP

#include <invar/num/trig_reduction.hpp>

namespace invar::num {

/// The sine of x radians for every finite x, the same bits everywhere.
///
/// |x| = n·π/2 + r with |r| <= π/4 as a sum of two floats: Cody and Waite below 2^17, Payne and Hanek in integers from
/// there on, see detail::reduce_angle. Then the minimax polynomial of degree 7 for sin r or degree 8 for cos r.
///
/// Odd: sin(±0) = ±0; ±∞ and NaN give the canonical NaN. Largest error over all floats: 0.759 ulp (x = 0x1.8fc874p+16).
KOKKOS_FORCEINLINE_FUNCTION float sin(float x) {
  const detail::Reduced<float> r = detail::reduce_angle(from_bits<float>(to_bits(x) & 0x7fffffffu));
  const float result = detail::sin_of_quadrant(r, r.quadrant, to_bits(x) & 0x80000000u);
  return (to_bits(x) & 0x7fffffffu) >= 0x7f800000u ? canonical_nan<float>() : result;
}

template <Symbolic T>
KOKKOS_FORCEINLINE_FUNCTION T sin(T x) {
  return T::apply(Operation::sin, x);
}

/// There is no double version; without this line a double would be narrowed silently.
double sin(double) = delete;

}  // namespace invar::num

#endif
