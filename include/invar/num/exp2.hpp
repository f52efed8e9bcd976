// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Two to the power x.
#ifndef INVAR_NUM_EXP2_HPP
#define INVAR_NUM_EXP2_HPP

#include <invar/num/exponential.hpp>

namespace invar::num {

KOKKOS_FORCEINLINE_FUNCTION float exp2(float x) {
  const float shifted = add(x, detail::round_to_integer);
  const float f = sub(x, sub(shifted, detail::round_to_integer));

  float q = 0x1.41788ap-13f;
  q = fma(q, f, 0x1.5f094ap-10f);
  q = fma(q, f, 0x1.3b2dd4p-7f);
  q = fma(q, f, 0x1.c6af7ap-5f);
  q = fma(q, f, 0x1.ebfbdcp-3f);
  const float linear = fma(f, 0x1.62e43p-1f, 1.0f);
  const float tail = fma(f, 0x1.62e43p-1f, sub(1.0f, linear));
  const float p = add(linear, fma(mul_unfenced(f, f), q, tail));
  float result = detail::scale_by_power(p, shifted);
  result = x < -150.0f ? 0.0f : result;
  result = x >= 128.0f ? from_bits<float>(0x7f800000u) : result;
  return x != x ? canonical_nan<float>() : result;
}

template <Symbolic T>
KOKKOS_FORCEINLINE_FUNCTION T exp2(T x) {
  return T::apply(Operation::exp2, x);
}

}  // namespace invar::num

#endif
