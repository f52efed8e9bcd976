// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The tiles of matmul on Hopper's matrix unit for many rows of a, and the choice among them.
#ifndef INVAR_BACKENDS_CUDA_MATRIX_LARGE_SCHEDULE_HPP
#define INVAR_BACKENDS_CUDA_MATRIX_LARGE_SCHEDULE_HPP

#include <algorithm>
#include <array>
#include <cstdint>

namespace invar::schedule {

/// A tile of c that a block computes at a time, or a cluster of `ranks` blocks, each of them some of the leaves. It
/// never reaches the bits.
struct LargeTile {
  const char* name;
  int rows, columns, ranks;
  bool takes_all_types;  ///< not only those of 16 bits
  /// Nanoseconds on an H200, as a model of what was measured: of a launch, of a tile, and of 128 bytes of k of a tile.
  int launch, tile, stage;
};

inline constexpr std::array<LargeTile, 8> large_tiles{{
    {"128 x 256, many rows", 128, 256, 1, true, 3500, 1500, 745},
    {"128 x 192, many rows", 128, 192, 1, false, 3500, 1200, 558},
    {"128 x 128, many rows", 128, 128, 1, true, 3000, 1000, 385},
    {"128 x 96, many rows", 128, 96, 1, false, 3000, 1000, 315},
    {"64 x 128, many rows", 64, 128, 1, false, 3500, 500, 232},
    {"64 x 64, many rows", 64, 64, 1, true, 3500, 500, 120},
    {"64 x 64, many rows, leaves over 2", 64, 64, 2, false, 6500, 0, 120},
    {"128 x 64, many rows, leaves over 4", 128, 64, 4, false, 7000, 0, 180},
}};

/// The tile for c of [m, n] and k positions on so many multiprocessors: the one that the model has done first.
/// \param bytes  of an element of a and b
constexpr const LargeTile& choose_large_tile(int processors, std::int64_t m, std::int64_t n, std::int64_t k,
                                             std::int64_t leaf = 2048, int bytes = 2) {
  const std::int64_t depth = 128 / bytes, leaves = (k + leaf - 1) / leaf;
  const LargeTile* best = nullptr;
  std::int64_t least = 0;
  for (const LargeTile& tile : large_tiles) {
    if (bytes != 2 && !tile.takes_all_types) continue;
    const std::int64_t tiles = (m + tile.rows - 1) / tile.rows * ((n + tile.columns - 1) / tile.columns);
    std::int64_t stages = (k + depth - 1) / depth;
    if (tile.ranks > 1) {
      // Each block takes one or two leaves, and all blocks run at the same time.
      if (leaves < tile.ranks || leaves > 2 * tile.ranks || tiles * tile.ranks > processors) continue;
      stages = std::min(stages, (leaves + tile.ranks - 1) / tile.ranks * leaf / depth);
    }
    const std::int64_t turns = (tiles * tile.ranks + processors - 1) / processors;
    const std::int64_t cost = tile.launch + turns * (tile.tile + stages * tile.stage);
    if (best != nullptr && cost >= least) continue;
    best = &tile;
    least = cost;
  }
  return *best;
}

}  // namespace invar::schedule

#endif
