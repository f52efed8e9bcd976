// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The boxes in shared memory through which finished outputs go to c, asynchronously by TMA.
#ifndef INVAR_BACKENDS_CUDA_MATRIX_LARGE_BOXES_HPP
#define INVAR_BACKENDS_CUDA_MATRIX_LARGE_BOXES_HPP

#include <invar/backends/cuda/matrix_large_output.hpp>
#include <invar/backends/cuda/matrix_large_shape.hpp>
#include <invar/backends/cuda/tensor_map.hpp>

#include <cstdint>

namespace invar::backends::cuda::gemm {

/// A warpgroup's boxes. This much is enough where c is of type T, TMA can take it and there is no epilogue.
template <class T, class Shape>
class LargeBoxes {
 public:
  static constexpr int block_values = Shape::block_values, block_words = block_values / 2;

  __device__ LargeBoxes(const LargeOutput& output, std::uint32_t shared, int group)
      : output_(output), shared_(shared), group_(group) {}

  /// Waits until no copy reads a box any more.
  __device__ void wait_boxes_read() const {
    if (thread() == 0) wait_stores_read<0>();
    wait_for_group(group_);
  }

  /// Words, as rounded_pair() made them, with every NaN canonical.
  template <int Count>
  static __device__ void make_canonical(std::uint32_t (&made)[Count]) {
    // As signed numbers of 16 bits, nothing is larger than what a NaN became.
    unsigned largest = 0;
#pragma unroll
    for (int i = 0; i < Count; i += 2) largest = larger_halves(largest, made[i], made[i + 1]);
    if (__builtin_expect((largest & 0xffffu) == 0x7fffu || largest >> 16 == 0x7fffu, 0)) {
#pragma unroll
      for (int i = 0; i < Count; ++i) made[i] = canonical_pair<T>(made[i]);
    }
  }

  /// Stores a tile's words, which are held as floats.
  /// \param row, column  of c, where the warpgroup's part of the tile begins
  template <int Size>
  __device__ void send_tile(const float (&held)[Size], int row, int column) {
#pragma unroll
    for (int block = 0; block < Shape::blocks; ++block) send_block(held, row, column, block);
  }
  template <int Size>
  __device__ void send_block(const float (&held)[Size], int row, int column, int block) {
    std::uint32_t tile[block_words];
#pragma unroll
    for (int i = 0; i < block_words; ++i) tile[i] = num::to_bits(held[block * block_words + i]);
    begin_box(Shape::boxes - 1);
    write_words(tile);
    send_box(row, column + block * Shape::block);
    next_box();
  }

  /// Waits until the boxes' copies have read them: then the block may end.
  __device__ void finish() const {
    if (thread() == 0) wait_stores_read<0>();
  }

  /// Keeps four totals of a parked block in shared memory, and brings them back.
  __device__ void park(int block, int four, const float (&totals)[4]) const {
    asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(parked(block, four)), "f"(totals[0]), "f"(totals[1]),
                 "f"(totals[2]), "f"(totals[3])
                 : "memory");
  }
  __device__ void unpark(float (&totals)[4], int block, int four) const {
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(totals[0]), "=f"(totals[1]), "=f"(totals[2]), "=f"(totals[3])
                 : "r"(parked(block, four))
                 : "memory");
  }

 protected:
  static constexpr int row_bytes = Shape::block * 2;  ///< of a box of pairs

  __device__ static int thread() { return static_cast<int>(opaque(threadIdx.x) % 128); }
  __device__ std::uint32_t box() const { return shared_ + Shape::box_offset(group_, box_); }

  /// Waits until the box may be written. A block's values may still be on their way from it, and some of a tile's
  /// values may still be read from where they parked.
  /// \param pending  copies that may go on
  __device__ void begin_box(int pending) const {
    if (thread() == 0) {
      if (pending == 0)
        wait_stores_read<0>();
      else
        wait_stores_read<1>();
    }
    wait_for_group(group_);
  }
  __device__ void next_box() {
    if (++box_ == Shape::boxes) box_ = 0;
  }

  /// The block in the box, 64 rows.
  __device__ void write_words(const std::uint32_t (&words)[block_words]) const {
    const std::uint32_t thread = opaque(threadIdx.x) % 128, lane = thread % 32;
    const std::uint32_t to = (thread / 32 * 16 + lane % 16) * row_bytes + lane / 16 * 16;
#pragma unroll
    for (int i = 0; i < block_words; i += 4) {
      // Four words are two columns of matrices; their bytes are two pieces of 16 on.
      const std::uint32_t four[4] = {words[i], words[i + 1], words[i + 2], words[i + 3]};
      store_matrices(box() + swizzled<row_bytes>(to + static_cast<std::uint32_t>(i) * 8), four);
    }
  }

  /// Starts the copy of the box to c.
  __device__ void send_box(int row, int column) const {
    fence_shared_stores();
    wait_for_group(group_);
    if (thread() == 0) {
      if (row < output_.out.m && column < output_.out.n) store_box(output_.map, box(), row, column);
      commit_stores();
    }
  }

  const LargeOutput& output_;
  std::uint32_t shared_;
  int group_;

 private:
  __device__ std::uint32_t parked(int block, int four) const {
    return shared_ + Shape::box_offset(group_, block) + static_cast<std::uint32_t>(four * 2048 + thread() * 16);
  }
  /// The largest of three in each half.
  static __device__ unsigned larger_halves(unsigned a, unsigned b, unsigned c) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    return __vimax3_s16x2(a, b, c);
#else
    (void)b, (void)c;
    return a;
#endif
  }

  int box_ = 0;  // that the next block takes
};

}  // namespace invar::backends::cuda::gemm

#endif
