// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What attention does with vectors beyond fma and add: each function gives every lane the bits that num/ would.
#ifndef INVAR_BACKENDS_HOST_ATTENTION_VECTOR_HPP
#define INVAR_BACKENDS_HOST_ATTENTION_VECTOR_HPP

#include <invar/backends/host/simd.hpp>
#include <invar/num/exp2.hpp>

#include <cmath>
#include <cstdint>

namespace invar::backends::host::attention {

/// f of each lane, where there is no better instruction; a loop without branches, which compilers turn into vectors.
template <class T, class F, class... Others>
inline Vector<T> per_lane(const F& f, const Vector<T>& first, const Others&... others) {
  constexpr int lanes = Vector<T>::lanes;
  T result[lanes];
  T operand[1 + sizeof...(others)][lanes];
  int next = 0;
  first.store(operand[next++]);
  (others.store(operand[next++]), ...);
  for (int l = 0; l < lanes; ++l) {
    if constexpr (sizeof...(others) == 0)
      result[l] = f(operand[0][l]);
    else
      result[l] = f(operand[0][l], operand[1][l]);
  }
  return Vector<T>::load(result);
}

/// a·b rounded, for a place where num::mul_unfenced may stand.
template <class T>
inline Vector<T> product(Vector<T> a, Vector<T> b) {
  return per_lane<T>([](T x, T y) { return num::mul_unfenced(x, y); }, a, b);
}
template <class T>
inline Vector<T> difference(Vector<T> a, Vector<T> b) {
  return per_lane<T>([](T x, T y) { return num::sub(x, y); }, a, b);
}
template <class T>
inline Vector<T> negated(Vector<T> a) {
  return per_lane<T>([](T x) { return num::negate(x); }, a);
}
/// The larger value of numbers; which zero, and what a NaN gives, is open, other than with num::max.
template <class T>
inline Vector<T> max_of_numbers(Vector<T> a, Vector<T> b) {
  return per_lane<T>([](T x, T y) { return num::max(x, y); }, a, b);
}
template <class T>
inline Vector<T> finite_lanes(Vector<T> a) {
  return per_lane<T>([](T x) { return num::finite_or_zero(x); }, a);
}
template <class T>
inline Vector<T> reciprocal_lanes(Vector<T> a) {
  return per_lane<T>([](T x) { return num::reciprocal_or_zero(x); }, a);
}
/// num::exp2; a NaN gives a NaN, not always the canonical one.
template <class T>
inline Vector<T> power_of_two(Vector<T> a) {
  return per_lane<T>([](T x) { return num::exp2(x); }, a);
}

/// The largest lane, as max_of_numbers has it.
template <class T>
inline T largest_lane(Vector<T> a) {
  T lane[Vector<T>::lanes];
  a.store(lane);
  for (int l = 1; l < Vector<T>::lanes; ++l) lane[0] = num::max(lane[0], lane[l]);
  return lane[0];
}

/// A choice for each lane.
template <class T>
struct Mask {
  bool lane[Vector<T>::lanes];

  /// Lanes whose number is above `at`.
  static Mask above(const int* number, int at) {
    Mask m;
    for (int l = 0; l < Vector<T>::lanes; ++l) m.lane[l] = number[l] > at;
    return m;
  }
  /// The first n lanes; n may lie outside [0, lanes].
  static Mask first(int n) {
    Mask m;
    for (int l = 0; l < Vector<T>::lanes; ++l) m.lane[l] = l < n;
    return m;
  }
  /// a where chosen, b elsewhere.
  Vector<T> select(Vector<T> a, Vector<T> b) const {
    T chosen[Vector<T>::lanes], other[Vector<T>::lanes];
    a.store(chosen);
    b.store(other);
    for (int l = 0; l < Vector<T>::lanes; ++l) chosen[l] = lane[l] ? chosen[l] : other[l];
    return Vector<T>::load(chosen);
  }
};

#if defined(__AVX512F__)
inline Vector<float> product(Vector<float> a, Vector<float> b) { return {_mm512_mul_ps(a.v, b.v)}; }
inline Vector<float> difference(Vector<float> a, Vector<float> b) { return {_mm512_sub_ps(a.v, b.v)}; }
inline Vector<float> negated(Vector<float> a) {
  const __m512i bits = _mm512_castps_si512(a.v);
  return {_mm512_castsi512_ps(_mm512_xor_epi32(bits, _mm512_set1_epi32(static_cast<int>(0x80000000u))))};
}
inline Vector<float> max_of_numbers(Vector<float> a, Vector<float> b) {
  return {_mm512_maskz_max_ps(every_lane, a.v, b.v)};
}
inline float largest_lane(Vector<float> a) {
  float lane[16];
  a.store(lane);
  const __m256 half = _mm256_max_ps(_mm256_loadu_ps(lane), _mm256_loadu_ps(lane + 8));
  __m128 quarter = _mm_max_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
  quarter = _mm_max_ps(quarter, _mm_movehl_ps(quarter, quarter));
  return _mm_cvtss_f32(_mm_max_ss(quarter, _mm_movehdup_ps(quarter)));
}
inline Vector<float> finite_lanes(Vector<float> a) {
  const __m512i magnitude = _mm512_and_epi32(_mm512_castps_si512(a.v), _mm512_set1_epi32(0x7fffffff));
  return {_mm512_maskz_mov_ps(_mm512_cmpneq_epi32_mask(magnitude, _mm512_set1_epi32(0x7f800000)), a.v)};
}
inline Vector<float> reciprocal_lanes(Vector<float> a) {
  const __mmask16 nonzero = _mm512_cmp_ps_mask(a.v, _mm512_setzero_ps(), _CMP_NEQ_UQ);
  return {_mm512_maskz_div_ps(nonzero, _mm512_set1_ps(1.0f), a.v)};
}

/// The steps of num::exp2. The argument is cut to [−151, 128] first, where the function has reached 0 and infinity, so
/// that nothing overflows on the way; and scalef multiplies by 2^n with one rounding, as num::detail::scale_by_power
/// does. Rounding to an integer by an instruction or by a large addend differs only in the sign of a zero f.
inline Vector<float> power_of_two(Vector<float> a) {
  const auto constant = [](float c) { return _mm512_set1_ps(c); };
  // Of a NaN and a number both instructions give the second operand.
  const __m512 x =
      _mm512_maskz_min_ps(every_lane, constant(128.0f), _mm512_maskz_max_ps(every_lane, constant(-151.0f), a.v));
  const __m512 n = _mm512_maskz_roundscale_ps(every_lane, x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  const __m512 f = _mm512_sub_ps(x, n);
  __m512 q = constant(0x1.41788ap-13f);
  q = _mm512_fmadd_ps(q, f, constant(0x1.5f094ap-10f));
  q = _mm512_fmadd_ps(q, f, constant(0x1.3b2dd4p-7f));
  q = _mm512_fmadd_ps(q, f, constant(0x1.c6af7ap-5f));
  q = _mm512_fmadd_ps(q, f, constant(0x1.ebfbdcp-3f));
  const __m512 one = constant(1.0f), log_2 = constant(0x1.62e43p-1f);
  const __m512 linear = _mm512_fmadd_ps(f, log_2, one);
  const __m512 tail = _mm512_fmadd_ps(f, log_2, _mm512_sub_ps(one, linear));
  const __m512 rest = _mm512_fmadd_ps(_mm512_mul_ps(f, f), q, tail);
  return {_mm512_maskz_scalef_ps(every_lane, _mm512_add_ps(linear, rest), n)};
}

template <>
struct Mask<float> {
  __mmask16 chosen;

  static Mask above(const int* number, int at) {
    return {_mm512_cmpgt_epi32_mask(_mm512_loadu_si512(number), _mm512_set1_epi32(at))};
  }
  static Mask first(int n) { return {static_cast<__mmask16>(n >= 16 ? 0xffffu : n <= 0 ? 0u : (1u << n) - 1u)}; }
  Vector<float> select(Vector<float> a, Vector<float> b) const { return {_mm512_mask_blend_ps(chosen, b.v, a.v)}; }
};
#endif

}  // namespace invar::backends::host::attention

#endif
