// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The vectors that host kernels are written with: the widest that the translation unit is compiled for.
///
/// Intrinsics, and not Kokkos' simd types: those have the widths that Kokkos was configured for, which for a
/// distribution's Kokkos is none; and the compilers' own vector types have no fused multiply-add.
#ifndef INVAR_BACKENDS_HOST_SIMD_HPP
#define INVAR_BACKENDS_HOST_SIMD_HPP

#include <invar/num/arithmetic.hpp>
#include <invar/num/types.hpp>

#include <cstdint>

#if defined(__AVX512F__) || (defined(__AVX2__) && defined(__FMA__))
#include <immintrin.h>
#elif defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace invar::backends::host {

/// Lanes of T that every operation treats alike, each as num/ would: fma and add round once.
template <class T>
struct Vector {
  static constexpr int lanes = 8, registers = 16;
  T lane[lanes];

  static Vector fill(T value) {
    Vector v;
    for (T& l : v.lane) l = value;
    return v;
  }
  /// Elements of T, or of a type that widens to it.
  template <class E>
  static Vector load(const E* from) {
    Vector v;
    for (int l = 0; l < lanes; ++l) v.lane[l] = num::widen(from[l]);
    return v;
  }
  void store(T* to) const {
    for (int l = 0; l < lanes; ++l) to[l] = lane[l];
  }
  friend Vector fma(Vector a, Vector b, Vector c) {
    for (int l = 0; l < lanes; ++l) c.lane[l] = num::fma(a.lane[l], b.lane[l], c.lane[l]);
    return c;
  }
  friend Vector add(Vector a, Vector b) {
    for (int l = 0; l < lanes; ++l) a.lane[l] = num::add(a.lane[l], b.lane[l]);
    return a;
  }
};

#if defined(__AVX512F__)
template <>
struct Vector<float> {
  static constexpr int lanes = 16, registers = 32;
  __m512 v;

  static Vector fill(float value) { return {_mm512_set1_ps(value)}; }
  static Vector load(const float* from) { return {_mm512_loadu_ps(from)}; }
  static Vector load(const bfloat16_t* from) {
    const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    return {_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16))};
  }
  static Vector load(const float16_t* from) {
    return {_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)))};
  }
  void store(float* to) const { _mm512_storeu_ps(to, v); }
  friend Vector fma(Vector a, Vector b, Vector c) { return {_mm512_fmadd_ps(a.v, b.v, c.v)}; }
  friend Vector add(Vector a, Vector b) { return {_mm512_add_ps(a.v, b.v)}; }
};
template <>
struct Vector<double> {
  static constexpr int lanes = 8, registers = 32;
  __m512d v;

  static Vector fill(double value) { return {_mm512_set1_pd(value)}; }
  static Vector load(const double* from) { return {_mm512_loadu_pd(from)}; }
  void store(double* to) const { _mm512_storeu_pd(to, v); }
  friend Vector fma(Vector a, Vector b, Vector c) { return {_mm512_fmadd_pd(a.v, b.v, c.v)}; }
  friend Vector add(Vector a, Vector b) { return {_mm512_add_pd(a.v, b.v)}; }
};
#elif defined(__AVX2__) && defined(__FMA__)
template <>
struct Vector<float> {
  static constexpr int lanes = 8, registers = 16;
  __m256 v;

  static Vector fill(float value) { return {_mm256_set1_ps(value)}; }
  static Vector load(const float* from) { return {_mm256_loadu_ps(from)}; }
  static Vector load(const bfloat16_t* from) {
    const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    return {_mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16))};
  }
  static Vector load(const float16_t* from) {
#ifdef __F16C__
    return {_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)))};
#else
    float widened[lanes];
    for (int l = 0; l < lanes; ++l) widened[l] = num::widen(from[l]);
    return load(widened);
#endif
  }
  void store(float* to) const { _mm256_storeu_ps(to, v); }
  friend Vector fma(Vector a, Vector b, Vector c) { return {_mm256_fmadd_ps(a.v, b.v, c.v)}; }
  friend Vector add(Vector a, Vector b) { return {_mm256_add_ps(a.v, b.v)}; }
};
template <>
struct Vector<double> {
  static constexpr int lanes = 4, registers = 16;
  __m256d v;

  static Vector fill(double value) { return {_mm256_set1_pd(value)}; }
  static Vector load(const double* from) { return {_mm256_loadu_pd(from)}; }
  void store(double* to) const { _mm256_storeu_pd(to, v); }
  friend Vector fma(Vector a, Vector b, Vector c) { return {_mm256_fmadd_pd(a.v, b.v, c.v)}; }
  friend Vector add(Vector a, Vector b) { return {_mm256_add_pd(a.v, b.v)}; }
};
#elif defined(__ARM_NEON) && defined(__aarch64__)
template <>
struct Vector<float> {
  static constexpr int lanes = 4, registers = 32;
  float32x4_t v;

  static Vector fill(float value) { return {vdupq_n_f32(value)}; }
  static Vector load(const float* from) { return {vld1q_f32(from)}; }
  static Vector load(const bfloat16_t* from) {
    return {vreinterpretq_f32_u32(vshll_n_u16(vld1_u16(reinterpret_cast<const std::uint16_t*>(from)), 16))};
  }
  static Vector load(const float16_t* from) {
    return {vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(reinterpret_cast<const std::uint16_t*>(from))))};
  }
  void store(float* to) const { vst1q_f32(to, v); }
  friend Vector fma(Vector a, Vector b, Vector c) { return {vfmaq_f32(c.v, a.v, b.v)}; }
  friend Vector add(Vector a, Vector b) { return {vaddq_f32(a.v, b.v)}; }
};
template <>
struct Vector<double> {
  static constexpr int lanes = 2, registers = 32;
  float64x2_t v;

  static Vector fill(double value) { return {vdupq_n_f64(value)}; }
  static Vector load(const double* from) { return {vld1q_f64(from)}; }
  void store(double* to) const { vst1q_f64(to, v); }
  friend Vector fma(Vector a, Vector b, Vector c) { return {vfmaq_f64(c.v, a.v, b.v)}; }
  friend Vector add(Vector a, Vector b) { return {vaddq_f64(a.v, b.v)}; }
};
#endif

}  // namespace invar::backends::host

#endif
