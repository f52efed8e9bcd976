// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Columns of rows in memory: what neighbouring rows hold at one element, in the lanes of a vector.
#ifndef INVAR_BACKENDS_HOST_ATTENTION_COLUMNS_HPP
#define INVAR_BACKENDS_HOST_ATTENTION_COLUMNS_HPP

#include <invar/backends/host/simd.hpp>

#include <cstdint>
#include <type_traits>

namespace invar::backends::host::attention {

/// `depth` columns of `lanes` rows from element d on, widened.
template <class T, class E>
struct Columns {
  static constexpr int lanes = Vector<T>::lanes, depth = lanes;
  /// Groups of rows whose columns fit into registers together, with four chains for each.
  static constexpr int groups = 1;

  void load(const E* const* rows, int d) {
    INVAR_UNROLL_VECTORS
    for (int l = 0; l < lanes; ++l) column_[l] = Vector<T>::load(rows[l] + d);
    Vector<T>::transpose(column_);
  }
  Vector<T> operator[](int i) const { return column_[i]; }

 private:
  Vector<T> column_[lanes];
};

#if defined(__AVX512F__)
/// Half a register from each of two rows: what a pair of loads joins, no shuffle has to. Elements of 16 bits stay pairs
/// until they are used, where a shift or a mask widens them.
template <class E>
struct Columns<float, E> {
  static constexpr int lanes = 16, depth = std::is_same_v<E, bfloat16_t> ? 16 : 8, groups = 2;

  void load(const E* const* rows, int d) {
    __m512 part[8];
    INVAR_UNROLL_VECTORS
    for (int i = 0; i < 8; ++i) {
      const int row = i < 4 ? i : i + 4;
      part[i] = halves(rows[row] + d, rows[row + 4] + d);
    }
    __m512 quads[8];
    INVAR_UNROLL_VECTORS
    for (int i = 0; i < 8; i += 4) {
      const __m512d low_01 = _mm512_castps_pd(_mm512_maskz_unpacklo_ps(every_lane, part[i], part[i + 1]));
      const __m512d high_01 = _mm512_castps_pd(_mm512_maskz_unpackhi_ps(every_lane, part[i], part[i + 1]));
      const __m512d low_23 = _mm512_castps_pd(_mm512_maskz_unpacklo_ps(every_lane, part[i + 2], part[i + 3]));
      const __m512d high_23 = _mm512_castps_pd(_mm512_maskz_unpackhi_ps(every_lane, part[i + 2], part[i + 3]));
      quads[i] = _mm512_castpd_ps(_mm512_maskz_unpacklo_pd(every_8, low_01, low_23));
      quads[i + 1] = _mm512_castpd_ps(_mm512_maskz_unpackhi_pd(every_8, low_01, low_23));
      quads[i + 2] = _mm512_castpd_ps(_mm512_maskz_unpacklo_pd(every_8, high_01, high_23));
      quads[i + 3] = _mm512_castpd_ps(_mm512_maskz_unpackhi_pd(every_8, high_01, high_23));
    }
    // quads[i]: elements i and i + 4 of rows 0 to 3, then of rows 4 to 7, in quarters; quads[i + 4]: of rows 8 to 15.
    INVAR_UNROLL_VECTORS
    for (int i = 0; i < 4; ++i) {
      column_[i] = _mm512_maskz_shuffle_f32x4(every_lane, quads[i], quads[i + 4], 0x88);
      column_[i + 4] = _mm512_maskz_shuffle_f32x4(every_lane, quads[i], quads[i + 4], 0xdd);
    }
  }
  Vector<float> operator[](int i) const {
    if constexpr (std::is_same_v<E, bfloat16_t>) {
      const __m512i pair = _mm512_castps_si512(column_[i / 2]);
      return {_mm512_castsi512_ps(i % 2 == 0 ? _mm512_maskz_slli_epi32(every_lane, pair, 16)
                                             : _mm512_and_epi32(pair, _mm512_set1_epi32(-65536)))};
    } else {
      return {column_[i]};
    }
  }

 private:
  static __m512 halves(const float* a, const float* b) {
    const __m512d first = _mm512_castpd256_pd512(_mm256_castps_pd(_mm256_loadu_ps(a)));
    return _mm512_castpd_ps(_mm512_maskz_insertf64x4(every_8, first, _mm256_castps_pd(_mm256_loadu_ps(b)), 1));
  }
  static __m512 halves(const bfloat16_t* a, const bfloat16_t* b) {
    return halves(reinterpret_cast<const float*>(a), reinterpret_cast<const float*>(b));
  }
  static __m512 halves(const float16_t* a, const float16_t* b) {
    const __m128i first = _mm_loadu_si128(reinterpret_cast<const __m128i*>(a));
    const __m128i second = _mm_loadu_si128(reinterpret_cast<const __m128i*>(b));
    return _mm512_maskz_cvtph_ps(every_lane, _mm256_inserti128_si256(_mm256_castsi128_si256(first), second, 1));
  }

  __m512 column_[8];
};
#endif

}  // namespace invar::backends::host::attention

#endif
