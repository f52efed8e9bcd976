// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The cosine.
#ifndef INVAR_NUM_COS_HPP
#define INVAR_NUM_COS_HPP

#include <invar/num/trig_reduction.hpp>

namespace invar::num {

KOKKOS_FORCEINLINE_FUNCTION float cos(float x) {
  const detail::Reduced r = detail::reduce_angle(from_bits<float>(to_bits(x) & 0x7fffffffu));
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
