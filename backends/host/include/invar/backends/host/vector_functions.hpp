// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The elementary functions of vectors: num/'s formulas on all lanes, where a vector is one register.
#ifndef INVAR_BACKENDS_HOST_VECTOR_FUNCTIONS_HPP
#define INVAR_BACKENDS_HOST_VECTOR_FUNCTIONS_HPP

#include <invar/backends/host/vector_math.hpp>
#include <invar/num/cos.hpp>
#include <invar/num/exp.hpp>
#include <invar/num/exp2.hpp>
#include <invar/num/sigmoid.hpp>
#include <invar/num/sin.hpp>

#include <cstdint>

namespace invar::backends::host {

#if defined(__AVX512F__)
/// p·2^n as detail::scale_by_power has it, for any n: the instruction rounds into the subnormals and overflows by
/// itself.
inline Vector<float> scale_by_power(Vector<float> p, Vector<float> shifted) {
  const Vector<float> n = sub(shifted, Vector<float>::fill(num::detail::round_to_integer));
  return {_mm512_maskz_scalef_ps(0xffff, p.v, n.v)};  // without a mask g++ 12 warns of an uninitialised operand
}
#endif

template <class T>
Vector<T> exp(Vector<T> x) {
  if constexpr (!in_register_v<T>) {
    return each_lane([](T a) { return num::exp(a); }, x);
  } else {
#if defined(__AVX512F__)
    // Beyond these bounds the result is +0 and +∞ already. A NaN passes.
    const Vector<T> clamped = greater(Vector<T>::fill(-105.0f), lesser(Vector<T>::fill(89.0f), x));
    const auto e = num::detail::exponential(clamped);
    return scale_by_power(add(e.high, e.low), e.shifted);
#else
    return num::detail::exp_formula(x);
#endif
  }
}

template <class T>
Vector<T> exp_nonpositive(Vector<T> x) {
  if constexpr (!in_register_v<T>) {
    return each_lane([](T a) { return num::exp_nonpositive(a); }, x);
  } else {
    const Vector<T> clamped = greater(Vector<T>::fill(-105.0f), x);
#if defined(__AVX512F__)
    const auto e = num::detail::exponential(clamped);
    return scale_by_power(add(e.high, e.low), e.shifted);
#else
    return num::detail::exp_nonpositive_formula(clamped);
#endif
  }
}

template <class T>
Vector<T> exp2(Vector<T> x) {
  if constexpr (in_register_v<T>)
    return num::detail::exp2_formula(x);
  else
    return each_lane([](T a) { return num::exp2(a); }, x);
}

template <class T>
Vector<T> sigmoid(Vector<T> x) {
  if constexpr (in_register_v<T>)
    return num::detail::sigmoid_formula(x);
  else
    return each_lane([](T a) { return num::sigmoid(a); }, x);
}

/// True where |x| ≥ 2^17, or x is NaN, in any lane.
template <InRegister T>
bool has_huge_lane(Vector<T> x) {
  const auto magnitude = to_bits(x) & 0x7fffffffu;
#if defined(__AVX512F__)
  return _mm512_cmpge_epu32_mask(__builtin_bit_cast(__m512i, magnitude), _mm512_set1_epi32(0x48000000)) != 0;
#else
  std::uint32_t bits[Vector<T>::lanes], all = 0;
  __builtin_memcpy(bits, &magnitude, sizeof bits);
  for (const std::uint32_t b : bits) all |= 0x47ffffffu - b;  // the sign bit: b is larger
  return (all >> 31) != 0;
#endif
}

/// `moderate`, but for the lanes of x that are too large for the reduction by Cody and Waite, infinite or NaN: they go
/// to the scalar function.
template <InRegister T, class Scalar>
Vector<T> with_huge_lanes(Vector<T> x, Vector<T> moderate, const Scalar& scalar) {
  if (!has_huge_lane(x)) return moderate;
  T in[Vector<T>::lanes], out[Vector<T>::lanes];
  x.store(in);
  moderate.store(out);
  for (int l = 0; l < Vector<T>::lanes; ++l)
    if (!(in[l] > -0x1p17f && in[l] < 0x1p17f)) out[l] = scalar(in[l]);
  return Vector<T>::load(out);
}

template <class T>
Vector<T> sin(Vector<T> x) {
  const auto scalar = [](T a) { return num::sin(a); };
  if constexpr (in_register_v<T>) {
    const auto r = num::detail::reduce_moderate(num::from_bits<Vector<T>>(to_bits(x) & 0x7fffffffu));
    return with_huge_lanes(x, num::detail::sin_of_quadrant(r, r.quadrant, to_bits(x) & 0x80000000u), scalar);
  } else {
    return each_lane(scalar, x);
  }
}

template <class T>
Vector<T> cos(Vector<T> x) {
  const auto scalar = [](T a) { return num::cos(a); };
  if constexpr (in_register_v<T>) {
    const auto r = num::detail::reduce_moderate(num::from_bits<Vector<T>>(to_bits(x) & 0x7fffffffu));
    return with_huge_lanes(x, num::detail::sin_of_quadrant(r, r.quadrant + 1u, to_bits(x) & 0u), scalar);
  } else {
    return each_lane(scalar, x);
  }
}

}  // namespace invar::backends::host

#endif
