// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Schedules of the general kernel of matrix units.
#ifndef INVAR_BACKENDS_CUDA_MATRIX_MMA_SCHEDULE_HPP
#define INVAR_BACKENDS_CUDA_MATRIX_MMA_SCHEDULE_HPP

#include <array>
#include <cstddef>
#include <cstdint>

namespace invar::schedule {

/// A tile of outputs by a matrix unit's instructions. Nothing here reaches the arithmetic.
struct MatrixMma {
  const char* name;
  int rows;            ///< of a tile
  int columns;         ///< of a tile
  bool by_warpgroups;  ///< wgmma computes it, which Hopper alone has; else mma.sync
  bool splits_leaves;  ///< each leaf of a tile goes to a block of its own; a second kernel joins them
};

/// Every schedule of the general kernel.
inline constexpr std::array<MatrixMma, 14> matrix_mma_table{{
    {"8 x 64 by warps", 8, 64, false, false},
    {"8 x 64 by warps, a leaf a block", 8, 64, false, true},
    {"32 x 64 by warps", 32, 64, false, false},
    {"32 x 64 by warps, a leaf a block", 32, 64, false, true},
    {"64 x 128 by warps", 64, 128, false, false},
    {"64 x 128 by warps, a leaf a block", 64, 128, false, true},
    {"8 x 64 by warpgroups", 8, 64, true, false},
    {"8 x 64 by warpgroups, a leaf a block", 8, 64, true, true},
    {"32 x 64 by warpgroups", 32, 64, true, false},
    {"32 x 64 by warpgroups, a leaf a block", 32, 64, true, true},
    {"64 x 128 by warpgroups", 64, 128, true, false},
    {"64 x 128 by warpgroups, a leaf a block", 64, 128, true, true},
    {"128 x 128 by warpgroups", 128, 128, true, false},
    {"128 x 128 by warpgroups, a leaf a block", 128, 128, true, true},
}};

/// What a choice depends on.
struct MatrixMmaShape {
  std::int64_t m, n;        ///< rows and columns of each product
  std::int64_t leaves;      ///< of each product, if they may have blocks of their own; else 1
  std::int64_t leaf_bytes;  ///< of a row of an operand in a leaf
  std::int64_t products;    ///< how many there are
};

/// The schedule for a shape.
/// \param processors  of the device
inline const MatrixMma& choose_matrix_mma(const MatrixMmaShape& shape, std::int64_t processors, bool has_warpgroups) {
  const auto tiles = [&](std::int64_t rows, std::int64_t columns) {
    return (shape.m + rows - 1) / rows * ((shape.n + columns - 1) / columns) * shape.products;
  };
  std::size_t entry = shape.m <= 8 ? 0 : shape.m <= 64 ? 2 : 4;
  if (has_warpgroups) entry += entry == 4 && tiles(128, 128) >= processors ? 8 : 6;
  const MatrixMma& whole = matrix_mma_table[entry];
  // The chains of the leaves go to memory and come back, which must cost less than bringing b; and a block should have
  // more to do than to begin and to end.
  const bool splits =
      shape.leaves > 1 && tiles(whole.rows, whole.columns) < 2 * processors && 16 * shape.m <= shape.leaf_bytes;
  return splits ? matrix_mma_table[entry + 1] : whole;
}

}  // namespace invar::schedule

#endif
