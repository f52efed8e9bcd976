// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The way of finished totals from registers to c: bias, rounding, shared memory, and from there asynchronously by TMA,
/// or element by element where TMA cannot take c.
#ifndef INVAR_BACKENDS_CUDA_MATRIX_LARGE_STORE_HPP
#define INVAR_BACKENDS_CUDA_MATRIX_LARGE_STORE_HPP

#include <invar/backends/cuda/matrix_large_boxes.hpp>

#include <cstdint>

namespace invar::backends::cuda::gemm {

/// A warpgroup's boxes with all that can become of a sum.
template <class T, class Shape>
class LargeStorer : public LargeBoxes<T, Shape> {
  using Base = LargeBoxes<T, Shape>;

 public:
  static constexpr int block_values = Base::block_values, block_words = Base::block_words;
  using Base::Base, Base::wait_boxes_read;

  /// Reads the bias of a tile's columns; await_bias() comes before its use.
  __device__ void fetch_bias(int column) const {
    if (!has_bias()) return;
#pragma unroll 1
    for (int j = thread(); j < Shape::columns; j += 128) {
      const float value = column + j < output_.out.n ? bias_at((column + j) * output_.out.bias_stride) : 0.0f;
      asm volatile("st.shared.f32 [%0], %1;" ::"r"(bias(j)), "f"(value) : "memory");
    }
  }
  __device__ void await_bias() const {
    if (has_bias()) wait_for_group(group_);
  }

  /// Stores a block's sums, in the order of wgmma.
  /// \param row, column   of c, where the block begins
  /// \param block_column  of the tile, where it begins
  __device__ void store(float (&sums)[block_values], int row, int column, int block_column) {
    if (output_.store == LargeStore::pairs)
      store_pairs(sums, row, column, block_column);
    else
      store_floats(sums, row, column, block_column);
  }

 private:
  __device__ void store_pairs(float (&sums)[block_values], int row, int column, int block_column) {
    std::uint32_t words[block_words];
    add_epilogue(sums, block_column);
#pragma unroll
    for (int i = 0; i < block_values; i += 8) round_pairs(part_words(words, i / 2), sums + i);
    std::uint32_t residual[pieces][4];
    const bool has_residual = output_.out.residual_type != Element::none;
    if (has_residual) fetch_residual(residual, row, column);
    begin_box(Shape::boxes - 1);
    write_words(words);
    if (has_residual) {
      wait_for_group(group_);
      add_residual(residual);
    }
    if (column + Shape::block <= output_.sent_columns)
      send_box(row, column);
    else
      copy_box(row, column);
    next_box();
  }

  __device__ void store_floats(float (&sums)[block_values], int row, int column, int block_column) {
    // The last of the boxes' copies have to be over, since each of them is filled twice.
    begin_box(0);
    const bool sends = output_.store == LargeStore::floats && column + Shape::block <= output_.sent_columns;
    if (sends) add_epilogue(sums, block_column);
    constexpr int count = Shape::block / 32;
#pragma unroll
    for (int half = 0; half < count; ++half) {
      if (half > 0) wait_boxes_read();
      write_floats(sums, half * 16, sends);
      if (sends)
        send_box(row, column + half * 32);
      else
        store_elements(row, column + half * 32);
    }
    next_box();
  }

  using Base::begin_box, Base::box, Base::group_, Base::next_box, Base::output_, Base::row_bytes, Base::send_box,
      Base::shared_, Base::thread, Base::write_words;

  __device__ std::uint32_t bias(int column) const {
    return shared_ + Shape::bias_offset(group_) + 4 * static_cast<std::uint32_t>(column);
  }

  __device__ bool has_bias() const { return output_.out.bias_type != Element::none; }
  __device__ float bias_at(std::int64_t offset) const {
    const void* const from = output_.out.bias;
    if (output_.out.bias_type == Element::bfloat16) return widened(static_cast<const bfloat16_t*>(from)[offset]);
    if (output_.out.bias_type == Element::float16) return widened(static_cast<const float16_t*>(from)[offset]);
    return static_cast<const float*>(from)[offset];
  }

  __device__ void add_epilogue(float (&sums)[block_values], int block_column) const {
    if (output_.out.is_scaled) {
#pragma unroll
      for (int i = 0; i < block_values; ++i) sums[i] = num::mul(sums[i], output_.out.scale);
    }
    if (!has_bias()) return;
    const std::uint32_t from = opaque(bias(block_column + thread() % 4 * 2));
#pragma unroll
    for (int i = 0; i < block_values; i += 4) {
      float x, y;
      asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];"
                   : "=f"(x), "=f"(y)
                   : "r"(from + static_cast<std::uint32_t>(i) * 8)
                   : "memory");
      sums[i] = num::add(sums[i], x);
      sums[i + 1] = num::add(sums[i + 1], y);
      sums[i + 2] = num::add(sums[i + 2], x);
      sums[i + 3] = num::add(sums[i + 3], y);
    }
  }

  template <int Size>
  static __device__ std::uint32_t (&part_words(std::uint32_t (&words)[Size], int first))[4] {
    return reinterpret_cast<std::uint32_t(&)[4]>(words[first]);
  }
  /// Eight values as four words.
  static __device__ void round_pairs(std::uint32_t (&words)[4], const float* values) {
    bool has_nan = false;
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      const float x = values[2 * w], y = values[2 * w + 1];
      words[w] = rounded_pair<T>(x, y);
      has_nan |= x != x || y != y;
    }
    if (has_nan) {
#pragma unroll
      for (int w = 0; w < 4; ++w) words[w] = canonical_pair<T>(words[w]);
    }
  }

  static constexpr int pieces = 64 * row_bytes / 16 / 128;  ///< of 16 bytes, of a thread

  /// A thread's piece of the box: its row and the byte in the row.
  struct Piece {
    int row, byte;
  };
  static __device__ Piece piece(int i) {
    const int index = thread() + i * 128;
    return {index / (row_bytes / 16), index % (row_bytes / 16) * 16};
  }

  /// The residual of the box's pieces: 16-byte pieces lie whole within c or outside, as LargeLaunch sees to.
  __device__ void fetch_residual(std::uint32_t (&residual)[pieces][4], int row, int column) const {
#pragma unroll
    for (int i = 0; i < pieces; ++i) {
      const Piece at = piece(i);
#pragma unroll
      for (int w = 0; w < 4; ++w) residual[i][w] = 0;
      if (row + at.row < output_.out.m && column + at.byte / 2 < output_.out.n) {
        const T* from = static_cast<const T*>(output_.out.residual) + (row + at.row) * output_.out.residual_row_stride +
                        column + at.byte / 2;
        asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(residual[i][0]), "=r"(residual[i][1]), "=r"(residual[i][2]), "=r"(residual[i][3])
                     : "l"(from)
                     : "memory");
      }
    }
  }
  __device__ void add_residual(const std::uint32_t (&residual)[pieces][4]) const {
#pragma unroll
    for (int i = 0; i < pieces; ++i) {
      const Piece at = piece(i);
      const std::uint32_t place = box() + swizzled<row_bytes>(static_cast<std::uint32_t>(at.row * row_bytes + at.byte));
      std::uint32_t words[4];
      asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                   : "r"(place)
                   : "memory");
      float sums[8];
#pragma unroll
      for (int v = 0; v < 8; ++v) sums[v] = num::add(half_of(words[v / 2], v % 2), half_of(residual[i][v / 2], v % 2));
      round_pairs(words, sums);
      asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(place), "r"(words[0]), "r"(words[1]), "r"(words[2]),
                   "r"(words[3])
                   : "memory");
    }
  }
  static __device__ float half_of(std::uint32_t word, int half) {
    return widened(T::from_bits(static_cast<std::uint16_t>(word >> (16 * half))));
  }

  /// Stores the box of pairs to c element by element, along its rows.
  __device__ void copy_box(int row, int column) const {
    wait_for_group(group_);
    const int thread = static_cast<int>(opaque(threadIdx.x) % 128), j = thread % Shape::block;
    const std::int64_t left = column + j < output_.out.n ? output_.out.m - row : 0;
    const int rows = left < 64 ? static_cast<int>(left) : 64;
#pragma unroll 1
    for (int i = thread / Shape::block; i < rows; i += 128 / Shape::block) {
      std::uint16_t bits;
      asm volatile("ld.shared.u16 %0, [%1];"
                   : "=h"(bits)
                   : "r"(box() + swizzled<row_bytes>(static_cast<std::uint32_t>(i * row_bytes + j * 2)))
                   : "memory");
      static_cast<T*>(output_.out.c)[(row + i) * output_.out.row_stride + (column + j) * output_.out.column_stride] =
          T::from_bits(bits);
    }
    // Counts among the copies, as begin_box() expects.
    if (thread == 0) commit_stores();
  }

  /// 32 columns of the block, from this value on, in the box: 64 rows of 128 bytes.
  __device__ void write_floats(const float (&values)[block_values], int from, bool is_final) const {
    const std::uint32_t thread = opaque(threadIdx.x) % 128, lane = thread % 32;
    const std::uint32_t line = thread / 32 * 16 + lane / 4;
#pragma unroll
    for (int i = 0; i < 16; i += 2) {
      const float x = values[from + i], y = values[from + i + 1];
      const std::uint32_t to = (line + i / 2 % 2 * 8) * 128 + i / 4 * 32 + lane % 4 * 8;
      asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(box() + swizzled<128>(to)),
                   "f"(is_final ? num::canonical(x) : x), "f"(is_final ? num::canonical(y) : y)
                   : "memory");
    }
  }

  /// Stores the box of floats to c, along its rows.
  __device__ void store_elements(int row, int column) const {
    wait_for_group(group_);
    const int thread = static_cast<int>(opaque(threadIdx.x) % 128), j = thread % 32;
    const std::int64_t left = column + j < output_.out.n ? output_.out.m - row : 0;
    const int rows = left < 64 ? static_cast<int>(left) : 64;
#pragma unroll 1
    for (int i = thread / 32; i < rows; i += 4) {
      float value;
      asm volatile("ld.shared.f32 %0, [%1];"
                   : "=f"(value)
                   : "r"(box() + swizzled<128>(static_cast<std::uint32_t>(i * 128 + j * 4)))
                   : "memory");
      output_.out.finish(row + i, column + j, value);
    }
  }
};

}  // namespace invar::backends::cuda::gemm

#endif
