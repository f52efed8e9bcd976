// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The cosine.
#ifndef INVAR_NUM_COS_HPP
#define INVAR_NUM_COS_HPP

#include <invar/num/trig_reduction.hpp>

namespace invar::num {

/// The cosine of x radians for every finite x, the same bits everywhere.
///
/// |x| = n·π/2 + r with |r| <= π/4 as a sum of two floats: Cody and Waite below 2^17, Payne and Hanek in integers from
/// there on, see detail::reduce_angle. Then the minimax polynomial of degree 7 for sin r or degree 8 for cos r.
///
/// Even: cos(±0) = 1; ±∞ and NaN give the canonical NaN. Largest error over all floats: 0.753 ulp (x = 0x1.f33ddp+119).
KOKKOS_FORCEINLINE_FUNCTION float cos(float x) {
  const detail::Reduced<float> r = detail::reduce_angle(from_bits<float>(to_bits(x) & 0x7fffffffu));
  const float result = detail::sin_of_quadrant(r, r.quadrant + 1u, 0u);
  return (to_bits(x) & 0x7fffffffu) >= 0x7f800000u ? canonical_nan<float>() : result;
}

template <Symbolic T>
KOKKOS_FORCEINLINE_FUNCTION T cos(T x) {
  return T::apply(Operation::cos, x);
}

/// There is no double version; without this line a double would be narrowed silently.
double cos(double) = delete;

}  // namespace invar::num

#endif
