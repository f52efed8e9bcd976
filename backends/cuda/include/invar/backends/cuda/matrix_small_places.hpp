// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Where the outputs of a thread lie in c, in a small matrix product.
#ifndef INVAR_BACKENDS_CUDA_MATRIX_SMALL_PLACES_HPP
#define INVAR_BACKENDS_CUDA_MATRIX_SMALL_PLACES_HPP

#include <invar/backends/cuda/matmul_operands.hpp>
#include <invar/num/bits.hpp>
#include <invar/num/types.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

namespace invar::backends::cuda::small {

/// The first output of a tile, and the rows of c.
struct Tile {
  int i, j;
  int m;
};

/// The outputs of a thread, in pairs of neighbours in a row of c: pair p is (i(p), j(p)) and the next column. Two pairs
/// make a part; parts lie 8 columns of the instruction apart, or, where a block has every n-th, so many times 8. The
/// columns of the instruction are rows of c where its rows are the weights.
template <bool WeightsAreRows>
struct PairPlaces {
  int first_i, first_j;
  int m;      ///< rows of c
  int parts;  ///< that there are
  int step;   ///< from part to part

  __device__ int i(int pair) const { return first_i + (WeightsAreRows ? pair / 2 * step : pair % 2 * 8); }
  __device__ int j(int pair) const { return first_j + (WeightsAreRows ? pair % 2 * 8 : pair / 2 * step); }
  /// True where the pair's first element is one of c's n columns, and of its rows.
  __device__ bool has(int pair, int n) const { return (pair / 2 < parts) & (i(pair) < m) & (j(pair) < n); }
  __device__ PairPlaces from_part(int part) const { return {i(2 * part), j(2 * part), m, parts - part, step}; }

  /// The pairs in a matrix with contiguous rows, part by part, each as one word.
  template <class T>
  class Walk {
    using Element = std::remove_const_t<T>;
    using Word = std::conditional_t<sizeof(T) == 4, uint2, std::uint32_t>;
    using Target = std::conditional_t<std::is_const_v<T>, const Word, Word>;

   public:
    __device__ Walk(T* data, std::int64_t row_stride, const PairPlaces& at)
        : at_(data + at.first_i * row_stride + at.first_j),
          half_(WeightsAreRows ? 8 : 8 * row_stride),
          part_(WeightsAreRows ? at.step * row_stride : at.step) {}
    __device__ void store(int half, Element first, Element second) const {
      if constexpr (sizeof(T) == 4)
        word(half) = {num::to_bits(first), num::to_bits(second)};
      else
        word(half) = first.bits | static_cast<std::uint32_t>(second.bits) << 16;
    }
    __device__ void load(int half, float& first, float& second) const {
      const Word both = word(half);
      if constexpr (sizeof(T) == 4) {
        first = num::from_bits<float>(both.x);
        second = num::from_bits<float>(both.y);
      } else {
        first = gemm::widened(Element::from_bits(static_cast<std::uint16_t>(both)));
        second = gemm::widened(Element::from_bits(static_cast<std::uint16_t>(both >> 16)));
      }
    }
    __device__ void next_part() { at_ += part_; }

   private:
    __device__ Target& word(int half) const { return *reinterpret_cast<Target*>(at_ + half * half_); }

    T* at_;
    std::int64_t half_, part_;
  };
};

/// True where two neighbours in a row of a matrix with n columns are one word, the first at an even column.
inline bool has_pairs(const void* data, std::int64_t row_stride, std::int64_t column_stride, std::int64_t m,
                      std::int64_t n, gemm::Element type) {
  const std::uintptr_t bytes = type == gemm::Element::float32 ? 8 : 4;
  return column_stride == 1 && n % 2 == 0 && (m == 1 || row_stride % 2 == 0) &&
         reinterpret_cast<std::uintptr_t>(data) % bytes == 0;
}

/// Moves what is left of an array to its front.
template <int Count, int Size>
__device__ inline void shift(float (&values)[Size]) {
#pragma unroll
  for (int i = 0; i + Count < Size; ++i) values[i] = values[i + Count];
}

}  // namespace invar::backends::cuda::small

#endif
