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
#include <utility>

#if defined(__AVX512F__) || (defined(__AVX2__) && defined(__FMA__))
#include <immintrin.h>
#endif

/// Before a loop over vectors that have to stay in registers: g++ keeps an array in memory unless every loop over it is
/// unrolled, which at -O2 it does not do unasked. nvcc does not let the pragma through.
#if defined(__CUDACC__)
#define INVAR_UNROLL_VECTORS
#elif defined(__clang__)
#define INVAR_UNROLL_VECTORS _Pragma("unroll")
#elif defined(__GNUC__)
#define INVAR_UNROLL_VECTORS _Pragma("GCC unroll 16")
#else
#define INVAR_UNROLL_VECTORS
#endif

namespace invar::backends::host {

/// Asks for the cache line at an address, into the second-level cache; never faults.
inline void prefetch(const void* address) {
#if defined(__GNUC__)
  __builtin_prefetch(address, 0, 2);
#else
  (void)address;
#endif
}

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
  /// Every NaN made canonical.
  friend Vector canonical(Vector a) {
    for (T& l : a.lane) l = num::narrow<T>(l);
    return a;
  }
  /// Vectors become columns.
  static void transpose(Vector (&rows)[lanes]) {
    for (int i = 0; i < lanes; ++i)
      for (int j = 0; j < i; ++j) std::swap(rows[i].lane[j], rows[j].lane[i]);
  }
};

#if defined(__AVX512F__)
/// Masks that keep every lane: g++ 12 warns of an uninitialised operand in the intrinsics without one.
inline constexpr __mmask16 every_lane = 0xffff;
inline constexpr __mmask8 every_8 = 0xff;

template <>
struct Vector<float> {
  static constexpr int lanes = 16, registers = 32;
  __m512 v;

  static Vector fill(float value) { return {_mm512_set1_ps(value)}; }
  static Vector load(const float* from) { return {_mm512_loadu_ps(from)}; }
  static Vector load(const bfloat16_t* from) {
    const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    return {
        _mm512_castsi512_ps(_mm512_maskz_slli_epi32(every_lane, _mm512_maskz_cvtepu16_epi32(every_lane, bits), 16))};
  }
  static Vector load(const float16_t* from) {
    return {_mm512_maskz_cvtph_ps(every_lane, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)))};
  }
  void store(float* to) const { _mm512_storeu_ps(to, v); }
  friend Vector fma(Vector a, Vector b, Vector c) { return {_mm512_fmadd_ps(a.v, b.v, c.v)}; }
  friend Vector add(Vector a, Vector b) { return {_mm512_add_ps(a.v, b.v)}; }
  friend Vector canonical(Vector a) {
    return {_mm512_mask_blend_ps(_mm512_cmp_ps_mask(a.v, a.v, _CMP_UNORD_Q), a.v,
                                 _mm512_set1_ps(num::canonical_nan<float>()))};
  }
  static void transpose(Vector (&rows)[lanes]) {
    __m512 pairs[lanes], quads[lanes];
    INVAR_UNROLL_VECTORS
    for (int i = 0; i < lanes; i += 2) {
      pairs[i] = _mm512_maskz_unpacklo_ps(every_lane, rows[i].v, rows[i + 1].v);
      pairs[i + 1] = _mm512_maskz_unpackhi_ps(every_lane, rows[i].v, rows[i + 1].v);
    }
    INVAR_UNROLL_VECTORS
    for (int i = 0; i < lanes; i += 4)
      for (int j = 0; j < 2; ++j) {
        const __m512d low = _mm512_castps_pd(pairs[i + j]), high = _mm512_castps_pd(pairs[i + j + 2]);
        quads[i + 2 * j] = _mm512_castpd_ps(_mm512_maskz_unpacklo_pd(every_8, low, high));
        quads[i + 2 * j + 1] = _mm512_castpd_ps(_mm512_maskz_unpackhi_pd(every_8, low, high));
      }
    // quads[4·i + j]: columns j, j + 4, j + 8, j + 12 of rows 4·i to 4·i + 3, in quarters.
    INVAR_UNROLL_VECTORS
    for (int j = 0; j < 4; ++j) {
      const __m512 even_01 = _mm512_maskz_shuffle_f32x4(every_lane, quads[j], quads[j + 4], 0x88);
      const __m512 odd_01 = _mm512_maskz_shuffle_f32x4(every_lane, quads[j], quads[j + 4], 0xdd);
      const __m512 even_23 = _mm512_maskz_shuffle_f32x4(every_lane, quads[j + 8], quads[j + 12], 0x88);
      const __m512 odd_23 = _mm512_maskz_shuffle_f32x4(every_lane, quads[j + 8], quads[j + 12], 0xdd);
      rows[j].v = _mm512_maskz_shuffle_f32x4(every_lane, even_01, even_23, 0x88);
      rows[j + 4].v = _mm512_maskz_shuffle_f32x4(every_lane, odd_01, odd_23, 0x88);
      rows[j + 8].v = _mm512_maskz_shuffle_f32x4(every_lane, even_01, even_23, 0xdd);
      rows[j + 12].v = _mm512_maskz_shuffle_f32x4(every_lane, odd_01, odd_23, 0xdd);
    }
  }
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
  friend Vector canonical(Vector a) {
    return {_mm512_mask_blend_pd(_mm512_cmp_pd_mask(a.v, a.v, _CMP_UNORD_Q), a.v,
                                 _mm512_set1_pd(num::canonical_nan<double>()))};
  }
  static void transpose(Vector (&rows)[lanes]) {
    __m512d pairs[lanes];
    INVAR_UNROLL_VECTORS
    for (int i = 0; i < lanes; i += 2) {
      pairs[i] = _mm512_maskz_unpacklo_pd(every_8, rows[i].v, rows[i + 1].v);
      pairs[i + 1] = _mm512_maskz_unpackhi_pd(every_8, rows[i].v, rows[i + 1].v);
    }
    // pairs[2·i + j]: columns j, j + 2, j + 4, j + 6 of rows 2·i and 2·i + 1, in quarters.
    INVAR_UNROLL_VECTORS
    for (int j = 0; j < 2; ++j) {
      const __m512d even_01 = _mm512_maskz_shuffle_f64x2(every_8, pairs[j], pairs[j + 2], 0x88);
      const __m512d odd_01 = _mm512_maskz_shuffle_f64x2(every_8, pairs[j], pairs[j + 2], 0xdd);
      const __m512d even_23 = _mm512_maskz_shuffle_f64x2(every_8, pairs[j + 4], pairs[j + 6], 0x88);
      const __m512d odd_23 = _mm512_maskz_shuffle_f64x2(every_8, pairs[j + 4], pairs[j + 6], 0xdd);
      rows[j].v = _mm512_maskz_shuffle_f64x2(every_8, even_01, even_23, 0x88);
      rows[j + 2].v = _mm512_maskz_shuffle_f64x2(every_8, odd_01, odd_23, 0x88);
      rows[j + 4].v = _mm512_maskz_shuffle_f64x2(every_8, even_01, even_23, 0xdd);
      rows[j + 6].v = _mm512_maskz_shuffle_f64x2(every_8, odd_01, odd_23, 0xdd);
    }
  }
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
  friend Vector canonical(Vector a) {
    return {_mm256_blendv_ps(a.v, _mm256_set1_ps(num::canonical_nan<float>()), _mm256_cmp_ps(a.v, a.v, _CMP_UNORD_Q))};
  }
  static void transpose(Vector (&rows)[lanes]) {
    __m256 pairs[lanes], quads[lanes];
    INVAR_UNROLL_VECTORS
    for (int i = 0; i < lanes; i += 2) {
      pairs[i] = _mm256_unpacklo_ps(rows[i].v, rows[i + 1].v);
      pairs[i + 1] = _mm256_unpackhi_ps(rows[i].v, rows[i + 1].v);
    }
    INVAR_UNROLL_VECTORS
    for (int i = 0; i < lanes; i += 4)
      for (int j = 0; j < 2; ++j) {
        const __m256d low = _mm256_castps_pd(pairs[i + j]), high = _mm256_castps_pd(pairs[i + j + 2]);
        quads[i + 2 * j] = _mm256_castpd_ps(_mm256_unpacklo_pd(low, high));
        quads[i + 2 * j + 1] = _mm256_castpd_ps(_mm256_unpackhi_pd(low, high));
      }
    INVAR_UNROLL_VECTORS
    for (int j = 0; j < 4; ++j) {
      rows[j].v = _mm256_permute2f128_ps(quads[j], quads[j + 4], 0x20);
      rows[j + 4].v = _mm256_permute2f128_ps(quads[j], quads[j + 4], 0x31);
    }
  }
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
  friend Vector canonical(Vector a) {
    return {_mm256_blendv_pd(a.v, _mm256_set1_pd(num::canonical_nan<double>()), _mm256_cmp_pd(a.v, a.v, _CMP_UNORD_Q))};
  }
  static void transpose(Vector (&rows)[lanes]) {
    const __m256d low_01 = _mm256_unpacklo_pd(rows[0].v, rows[1].v), low_23 = _mm256_unpacklo_pd(rows[2].v, rows[3].v);
    const __m256d high_01 = _mm256_unpackhi_pd(rows[0].v, rows[1].v),
                  high_23 = _mm256_unpackhi_pd(rows[2].v, rows[3].v);
    rows[0].v = _mm256_permute2f128_pd(low_01, low_23, 0x20);
    rows[1].v = _mm256_permute2f128_pd(high_01, high_23, 0x20);
    rows[2].v = _mm256_permute2f128_pd(low_01, low_23, 0x31);
    rows[3].v = _mm256_permute2f128_pd(high_01, high_23, 0x31);
  }
};
#elif defined(__aarch64__) && defined(__GNUC__)
// NEON, without arm_neon.h: its global bfloat16_t and float16_t would make those names of invar's ambiguous to users.
template <>
struct Vector<float> {
  static constexpr int lanes = 4, registers = 32;
  using Lanes [[gnu::vector_size(16)]] = float;
  using Halves [[gnu::vector_size(8)]] = std::uint16_t;
  using Words [[gnu::vector_size(16)]] = std::uint32_t;
  Lanes v;

  static Vector fill(float value) { return {Lanes{value, value, value, value}}; }
  static Vector load(const float* from) { return {bits<Lanes>(from)}; }
  static Vector load(const bfloat16_t* from) {
    const Words widened = __builtin_convertvector(bits<Halves>(from), Words) << 16;
    return {bits<Lanes>(&widened)};
  }
  static Vector load(const float16_t* from) {
    Vector widened;
    asm("fcvtl %0.4s, %1.4h" : "=w"(widened.v) : "w"(bits<Halves>(from)));
    return widened;
  }
  void store(float* to) const { __builtin_memcpy(to, &v, sizeof v); }
  friend Vector fma(Vector a, Vector b, Vector c) {
    asm("fmla %0.4s, %1.4s, %2.4s" : "+w"(c.v) : "w"(a.v), "w"(b.v));
    return c;
  }
  friend Vector add(Vector a, Vector b) { return {a.v + b.v}; }
  friend Vector canonical(Vector a) { return {a.v == a.v ? a.v : fill(num::canonical_nan<float>()).v}; }
  static void transpose(Vector (&rows)[lanes]) {
    const Lanes a = rows[0].v, b = rows[1].v, c = rows[2].v, d = rows[3].v;
    INVAR_UNROLL_VECTORS
    for (int i = 0; i < lanes; ++i) rows[i].v = Lanes{a[i], b[i], c[i], d[i]};
  }

 private:
  template <class Bits>
  static Bits bits(const void* from) {
    Bits read;
    __builtin_memcpy(&read, from, sizeof read);
    return read;
  }
};
template <>
struct Vector<double> {
  static constexpr int lanes = 2, registers = 32;
  using Lanes [[gnu::vector_size(16)]] = double;
  Lanes v;

  static Vector fill(double value) { return {Lanes{value, value}}; }
  static Vector load(const double* from) {
    Vector read;
    __builtin_memcpy(&read.v, from, sizeof read.v);
    return read;
  }
  void store(double* to) const { __builtin_memcpy(to, &v, sizeof v); }
  friend Vector fma(Vector a, Vector b, Vector c) {
    asm("fmla %0.2d, %1.2d, %2.2d" : "+w"(c.v) : "w"(a.v), "w"(b.v));
    return c;
  }
  friend Vector add(Vector a, Vector b) { return {a.v + b.v}; }
  friend Vector canonical(Vector a) { return {a.v == a.v ? a.v : fill(num::canonical_nan<double>()).v}; }
  static void transpose(Vector (&rows)[lanes]) {
    const Lanes a = rows[0].v, b = rows[1].v;
    rows[0].v = Lanes{a[0], b[0]};
    rows[1].v = Lanes{a[1], b[1]};
  }
};
#endif

}  // namespace invar::backends::host

#endif
