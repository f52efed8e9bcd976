// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The sine.
#ifndef INVAR_NUM_SIN_HPP
#define INVAR_NUM_SIN_HPP

#include <invar/num/trig_reduction.hpp>

namespace invar::num {

KOKKOS_FORCEINLINE_FUNCTION float sin(float x) {
  const detail::Reduced r = detail::reduce_angle(from_bits<float>(to_bits(x) & 0x7fffffffu));
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
