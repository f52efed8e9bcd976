// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What becomes of the finished sums of a small matrix product: the epilogue, the rounding to c's type, the store.
#ifndef INVAR_BACKENDS_CUDA_MATRIX_SMALL_OUTPUT_HPP
#define INVAR_BACKENDS_CUDA_MATRIX_SMALL_OUTPUT_HPP

#include <invar/backends/cuda/matmul_operands.hpp>
#include <invar/num/arithmetic.hpp>
#include <invar/num/sigmoid.hpp>
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

/// The bits of MatmulOutput::finish(), which takes what is not usual.
template <class T>
struct SmallOutput {
  static constexpr bool is_gated = false;
  gemm::MatmulOutput<float> out;
  bool is_usual;  ///< c and the residual are T or float, in pairs, and of one type
  bool is_plain;  ///< moreover there is no epilogue, and c is T

  explicit SmallOutput(const gemm::MatmulOutput<float>& to) : out(to) {
    using gemm::Element;
    const auto is_known = [](Element type) { return type == gemm::element_of<T>() || type == Element::float32; };
    is_usual = is_known(out.c_type) && has_pairs(out.c, out.row_stride, out.column_stride, out.m, out.n, out.c_type) &&
               (out.bias_type == Element::none || is_known(out.bias_type)) &&
               (out.residual_type == Element::none ||
                (out.residual_type == out.c_type && has_pairs(out.residual, out.residual_row_stride,
                                                              out.residual_column_stride, out.m, out.n, out.c_type)));
    is_plain = is_usual && out.c_type == gemm::element_of<T>() && !out.is_scaled && out.bias_type == Element::none && out.residual_type == Element::none;
  }

  /// A hint that a tile will be finished; a warp calls it.
  __device__ void prefetch(const Tile& tile, int rows, int columns) const {
    if (is_plain) return;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int end_i = tile.m - tile.i < rows ? tile.m : tile.i + rows, n = static_cast<int>(out.n);
    const int end_j = n - tile.j < columns ? n : tile.j + columns;
    if (out.bias_type != gemm::Element::none) {
#pragma unroll 1
      for (int j = tile.j + lane; j < end_j; j += 32) hint(out.bias, out.bias_type, j * out.bias_stride);
    }
    if (out.residual_type == gemm::Element::none || !is_usual) return;
#pragma unroll 1
    for (int i = tile.i + lane; i < end_i; i += 32) {
#pragma unroll 1
      for (int j = tile.j; j < end_j; j += 32) hint(out.residual, out.c_type, i * out.residual_row_stride + j);
    }
  }

  template <int Pairs, class Places>
  __device__ void finish(float (&sums)[2 * Pairs], const Places& at) const {
    const int n = static_cast<int>(out.n);
    // What is plain is straight code: in a cold start every jump waits for memory.
    if (is_plain) [[likely]] {
      typename Places::template Walk<T> to(static_cast<T*>(out.c), out.row_stride, at);
#pragma unroll
      for (int p = 0; p < Pairs; ++p) {
        if (at.has(p, n)) to.store(p % 2, num::narrow<T>(sums[2 * p]), num::narrow<T>(sums[2 * p + 1]));
        if (p % 2 == 1) to.next_part();
      }
      return;
    }
    // The rest in little code: some parts at a time.
    constexpr int parts = Pairs / 2, most = parts >= 16 ? 2 : 4;
    constexpr int group = parts % most == 0 ? most : parts % 3 == 0 ? 3 : parts % 2 == 0 ? 2 : 1;
#pragma unroll 1
    for (int part = 0; part < parts; part += group) {
      float some[4 * group];
#pragma unroll
      for (int r = 0; r < 4 * group; ++r) some[r] = sums[r];
      if (!is_usual)
        finish_one_by_one<2 * group>(some, at.from_part(part));
      else if (out.c_type == gemm::Element::float32)
        finish_usual<2 * group, float>(some, at.from_part(part));
      else
        finish_usual<2 * group, T>(some, at.from_part(part));
      shift<4 * group>(sums);
    }
  }

 private:
  static __device__ void hint(const void* data, gemm::Element type, std::int64_t element) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(static_cast<const char*>(data) +
                                                   element * (type == gemm::Element::float32 ? 4 : 2)));
  }

  /// Everything is on its way before the first of it is needed.
  template <int Pairs, class C, class Places>
  __device__ void finish_usual(float (&sums)[2 * Pairs], const Places& at) const {
    const int n = static_cast<int>(out.n);
    if (out.is_scaled) {
#pragma unroll
      for (int r = 0; r < 2 * Pairs; ++r) sums[r] = num::mul(sums[r], out.scale);
    }
    if (out.bias_type != gemm::Element::none) {
      const bool is_float = out.bias_type == gemm::Element::float32;
      float bias[2 * Pairs] = {};
#pragma unroll
      for (int r = 0; r < 2 * Pairs; ++r) {
        const std::int64_t from = (at.j(r / 2) + r % 2) * out.bias_stride;
        const bool is_there = at.has(r / 2, n);
        if (is_there && is_float) bias[r] = static_cast<const float*>(out.bias)[from];
        if (is_there && !is_float) bias[r] = gemm::widened(static_cast<const T*>(out.bias)[from]);
      }
#pragma unroll
      for (int r = 0; r < 2 * Pairs; ++r) sums[r] = num::add(sums[r], bias[r]);
    }
    if (out.residual_type != gemm::Element::none) {
      float residual[2 * Pairs] = {};
      typename Places::template Walk<const C> from(static_cast<const C*>(out.residual), out.residual_row_stride, at);
#pragma unroll
      for (int p = 0; p < Pairs; ++p) {
        if (at.has(p, n)) from.load(p % 2, residual[2 * p], residual[2 * p + 1]);
        if (p % 2 == 1) from.next_part();
      }
#pragma unroll
      for (int r = 0; r < 2 * Pairs; ++r) sums[r] = num::add(gemm::widened(num::narrow<C>(sums[r])), residual[r]);
    }
    typename Places::template Walk<C> to(static_cast<C*>(out.c), out.row_stride, at);
#pragma unroll
    for (int p = 0; p < Pairs; ++p) {
      if (at.has(p, n)) to.store(p % 2, num::narrow<C>(sums[2 * p]), num::narrow<C>(sums[2 * p + 1]));
      if (p % 2 == 1) to.next_part();
    }
  }

  /// Any types and strides.
  template <int Pairs, class Places>
  __device__ void finish_one_by_one(float (&sums)[2 * Pairs], const Places& at) const {
#pragma unroll 1
    for (int r = 0; r < 2 * Pairs; ++r) {
      const int i = at.i(r / 2), j = at.j(r / 2) + r % 2, n = static_cast<int>(out.n);
      if (at.has(r / 2, n) && j < n) out.finish(i, j, sums[0]);
      shift<1>(sums);
    }
  }
};

/// silu_mul of two products that were rounded to c's type, T or float: the bits of matmul_silu_mul.
template <class T>
struct GatedOutput {
  static constexpr bool is_gated = true;
  gemm::MatmulOutput<float> out;
  bool is_paired;
  bool up_is_first = false;  ///< they come in this order

  explicit GatedOutput(const gemm::MatmulOutput<float>& to)
      : out(to), is_paired(has_pairs(to.c, to.row_stride, to.column_stride, to.m, to.n, to.c_type)) {}
  static bool suits(const gemm::MatmulOutput<float>& to) {
    using gemm::Element;
    return (to.c_type == gemm::element_of<T>() || to.c_type == Element::float32) && !to.is_scaled &&
           to.bias_type == Element::none && to.residual_type == Element::none;
  }

  __device__ void prefetch(const Tile&, int, int) const {}

  template <int Pairs, class Places>
  __device__ void finish(float (&gate)[2 * Pairs], float (&up)[2 * Pairs], const Places& at) const {
    // A loop: the code of a sigmoid is long, and waits to be fetched once.
#pragma unroll 1
    for (int part = 0; part < Pairs / 2; ++part) {
      const Places place = at.from_part(part);
      if (out.c_type == gemm::element_of<T>())
        store<T>(gate, up, place);
      else
        store<float>(gate, up, place);
      shift<4>(gate);
      shift<4>(up);
    }
  }

  /// The same where the rows of the instruction are the weights: of a part's outputs two are the gate's at (i, j) and
  /// (i + 1, j), and two those of up.
  template <int Size, class Places>
  __device__ void finish_rows(float (&sums)[Size], const Places& at, bool is_odd) const {
#pragma unroll 1
    for (int part = 0; part < Size / 4; ++part) {
      const Places place = at.from_part(part);
      if (out.c_type == gemm::element_of<T>())
        store_rows<T>(sums, place, is_odd);
      else
        store_rows<float>(sums, place, is_odd);
      shift<4>(sums);
    }
  }

 private:
  template <class C>
  __device__ C gated(float gate, float up) const {
    const float g = gemm::widened(num::narrow<C>(up_is_first ? up : gate));
    const float u = gemm::widened(num::narrow<C>(up_is_first ? gate : up));
    return num::narrow<C>(num::mul_unfenced(num::mul_unfenced(g, num::sigmoid(g)), u));
  }
  template <class C, class Places>
  __device__ void store_rows(const float* sums, const Places& at, bool is_odd) const {
    const float x = gemm::widened(gated<C>(sums[0], sums[2])), y = gemm::widened(gated<C>(sums[1], sums[3]));
    const float other = __shfl_xor_sync(0xffffffffu, is_odd ? x : y, 4);
    store_pair(at, 0, num::narrow<C>(is_odd ? other : x), num::narrow<C>(is_odd ? y : other));
  }
  template <class C, class Places>
  __device__ void store_pair(const Places& at, int pair, C first, C second) const {
    const int n = static_cast<int>(out.n), i = at.i(pair), j = at.j(pair);
    if (!at.has(pair, n)) return;
    C* const to = static_cast<C*>(out.c) + i * out.row_stride + j * out.column_stride;
    if (is_paired) {
      *reinterpret_cast<gemm::Pack<C, 2>*>(to) = {{first, second}};
    } else {
      to[0] = first;
      if (j + 1 < n) to[out.column_stride] = second;
    }
  }
  /// A part.
  template <class C, class Places>
  __device__ void store(const float* gate, const float* up, const Places& at) const {
#pragma unroll
    for (int p = 0; p < 2; ++p)
      store_pair(at, p, gated<C>(gate[2 * p], up[2 * p]), gated<C>(gate[2 * p + 1], up[2 * p + 1]));
  }
};

}  // namespace invar::backends::cuda::small

#endif
