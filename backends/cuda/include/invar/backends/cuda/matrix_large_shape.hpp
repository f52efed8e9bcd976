// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The tiles of matmul on the matrix unit for many rows of a, and where everything lies in a block's shared memory.
#ifndef INVAR_BACKENDS_CUDA_MATRIX_LARGE_SHAPE_HPP
#define INVAR_BACKENDS_CUDA_MATRIX_LARGE_SHAPE_HPP

#include <invar/backends/cuda/matrix_large_ring.hpp>
#include <invar/backends/cuda/matrix_unit.hpp>

#include <cstdint>

namespace invar::backends::cuda::gemm {

/// A tile of 64·Groups × Columns outputs, whose rows `Groups` warpgroups share.
///
/// \tparam Parked  blocks of columns of which half of the totals live in shared memory, for want of registers
/// \tparam Lags    the second warpgroup begins a stage after the first, so that one folds while the other multiplies
/// \tparam Block   columns that are stored as one box
/// \tparam Bytes   of an element of a and b
/// \tparam MajorB  how b lies in memory
template <int Groups_, int Columns_, int Parked_ = 0, bool Lags_ = false, int Block_ = Columns_ % 64 == 0 ? 64 : 32,
          int Bytes_ = 2, Major MajorB = Major::mn>
struct LargeShape {
  template <Major NewB>
  using With = LargeShape<Groups_, Columns_, Parked_, Lags_, Block_, Bytes_, NewB>;

  static constexpr int groups = Groups_, rows = 64 * Groups_, columns = Columns_;
  static constexpr int parked = Parked_;
  static constexpr bool lags = Lags_;
  /// Whether a warpgroup's columns are multiplied as two halves.
  static constexpr bool halves = columns == 256;
  /// Whether a tile is stored a little at a time: it is worth the code where blocks compute several tiles.
  static constexpr bool spreads = groups == 2 && columns >= 128;

  static constexpr int depth = 128 / Bytes_;  ///< positions of k in a stage: 128 bytes
  static constexpr int steps = 4;             ///< instructions of a stage, of 32 bytes of k

  static constexpr int block = Block_;
  static constexpr int blocks = columns / block;
  static constexpr int block_values = block / 2;  ///< a thread's values of a block
  static constexpr int held = columns / 2 - parked * block_values / 2;
  static_assert(columns % block == 0 && parked <= blocks);

  static constexpr int threads = 128 * (groups + 1);

  static constexpr int box_bytes = 8192;  ///< of a block on its way to c, and of a parked block
  /// A second box lets a block be written while the one before is still read. Small stages are short of that room.
  static constexpr int boxes = columns == 192 || columns == 96 ? 1 : 2;
  static_assert(parked == 0 || (parked == boxes && blocks % boxes == 0), "Invar: a parked block lies in its own box");
  static constexpr int a_bytes = rows * 128;
  /// Columns of b that one copy brings. Major::mn needs whole atoms of 64.
  static constexpr int b_box = MajorB == Major::mn ? 64 : halves ? columns / 2 : columns;
  static constexpr int b_boxes = (columns + b_box - 1) / b_box;
  static constexpr int b_bytes = b_boxes * b_box * 128;
  static constexpr int stage_bytes = a_bytes + b_bytes;
  static constexpr int side_bytes = groups * (boxes * box_bytes + columns * 4);

  static constexpr int most_shared = 227 * 1024;
  static constexpr int fitting = (most_shared - side_bytes) / (stage_bytes + 16);
  static constexpr int stages = fitting < 12 ? fitting : 12;
  using Ring = StageRing<stages>;
  static constexpr int shared_bytes = stages * stage_bytes + side_bytes + Ring::shared_bytes;

  /// A warpgroup's boxes, from the beginning of shared memory.
  static __device__ constexpr std::uint32_t box_offset(int group, int box) {
    return static_cast<std::uint32_t>(stages * stage_bytes + (group * boxes + box) * box_bytes);
  }
  /// A warpgroup's bias of its tile, as float.
  static __device__ constexpr std::uint32_t bias_offset(int group) {
    return box_offset(groups, 0) + static_cast<std::uint32_t>(group * columns * 4);
  }
  static __device__ constexpr std::uint32_t ring_offset() { return bias_offset(groups); }

  /// Where the total of a thread's value of a block is held. In parked blocks the first half of the values is.
  static __device__ constexpr int held_at(int block, int value) {
    return block < parked ? block * (block_values / 2) + value : block * block_values + value - (columns / 2 - held);
  }
  static __device__ constexpr int held_values(int block) { return block < parked ? block_values / 2 : block_values; }
};

/// The last tiles of a launch of such a shape, of half as many columns, in the same shared memory.
template <class Shape>
struct LargeHalfTile : Shape {
  static constexpr int columns = Shape::columns / 2, blocks = Shape::blocks / 2, b_boxes = Shape::b_boxes / 2;
  static constexpr int parked = 0, held = columns / 2;
  static constexpr bool lags = false, halves = false, spreads = false;

  static __device__ constexpr int held_at(int block, int value) { return block * Shape::block_values + value; }
  static __device__ constexpr int held_values(int /*block*/) { return Shape::block_values; }
};

/// Says that values need not be set: whatever registers hold will do.
template <int Size>
__device__ inline void leave_undefined(float (&values)[Size]) {
#pragma unroll
  for (int i = 0; i < Size; ++i) asm volatile("" : "=f"(values[i]));
}

/// Where a tile of c begins.
struct LargePosition {
  int row, column;
};

/// The order of the tiles of c: down bands of 16 rows of tiles, so that blocks that work at the same time share what
/// they read.
class LargeOrder {
 public:
  /// \param last_row  no tile begins later
  static LargeOrder of(std::int64_t tiles_m, std::int64_t tiles_n, std::int64_t last_row) {
    LargeOrder order;
    order.last_row_ = static_cast<int>(last_row);
    order.whole_bands_ = static_cast<unsigned>(tiles_m / band);
    order.band_tiles_ = Divisor(static_cast<unsigned>(band * tiles_n));
    order.last_height_ = Divisor(static_cast<unsigned>(tiles_m % band == 0 ? band : tiles_m % band));
    return order;
  }

  template <class Shape>
  __device__ LargePosition position(unsigned index) const {
    const unsigned at_band = band_tiles_.quotient(index), rest = index - at_band * band_tiles_.value;
    unsigned column = rest / band, row = rest % band;
    if (at_band >= whole_bands_) {
      column = last_height_.quotient(rest);
      row = rest - column * last_height_.value;
    }
    return {min(static_cast<int>((at_band * band + row) * Shape::rows), last_row_),
            static_cast<int>(column * Shape::columns)};
  }

 private:
  static constexpr unsigned band = 16;

  /// A number to divide by, with few instructions: a block's first loads wait for its first tile's place.
  struct Divisor {
    unsigned value = 1;
    unsigned reciprocal = 0xffffffffu;  ///< 2³² / value, rounded down or less

    Divisor() = default;
    explicit Divisor(unsigned by) : value(by), reciprocal(0xffffffffu / by) {}

    __device__ unsigned quotient(unsigned x) const {
      const unsigned estimate = __umulhi(x, reciprocal);  // right, or one too small
      return estimate + (x - estimate * value >= value);
    }
  };

  int last_row_ = 0;
  unsigned whole_bands_ = 0;
  Divisor band_tiles_, last_height_;
};

}  // namespace invar::backends::cuda::gemm

#endif
