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
  /// Nanoseconds on an H200, as a model of what was measured: of a launch, of a tile, of each of its leaves, of 128
  /// bytes of k, and of the same where the rows of a that blocks share do not stay in the cache, or where the smallest
  /// tiles follow each other, which read more than the cache can give.
  int launch, tile, leaf, stage, far_stage;
};

inline constexpr std::array<LargeTile, 8> large_tiles{{
    {"128 x 256, many rows", 128, 256, 1, false, 3500, 400, 250, 735, 755},
    {"128 x 192, many rows", 128, 192, 1, false, 3500, 1000, 200, 552, 565},
    {"128 x 128, many rows", 128, 128, 1, true, 3000, 600, 100, 385, 385},
    {"128 x 96, many rows", 128, 96, 1, false, 3000, 800, 100, 315, 315},
    {"64 x 128, many rows", 64, 128, 1, false, 3500, 400, 50, 200, 200},
    {"64 x 96, many rows", 64, 96, 1, false, 3500, 400, 50, 205, 205},
    {"64 x 64, many rows", 64, 64, 1, true, 3500, 400, 50, 120, 175},
    {"64 x 64, many rows, leaves over 2", 64, 64, 2, false, 6200, 0, 0, 125, 125},
}};

/// Of so many tiles, those that two blocks compute, a half of the columns each: the last ones, if whole they would keep
/// at most half of the multiprocessors at work after the others are done. Tiles of 256 columns can be halved.
constexpr std::int64_t halved_tiles(int processors, std::int64_t tiles, int columns) {
  const std::int64_t last = tiles % processors;
  return columns == 256 && tiles > processors && 2 * last <= processors ? last : 0;
}

/// The tile for c of [m, n] and k positions on so many multiprocessors: the one that the model has done first.
/// \param bytes    of an element of a and b
/// \param by_rows  the weights are stored [N, K]; else columns of them come by 64
constexpr const LargeTile& choose_large_tile(int processors, std::int64_t m, std::int64_t n, std::int64_t k,
                                             std::int64_t leaf, int bytes, bool by_rows) {
  constexpr std::int64_t cache = 40'000'000, band = 16;  // bytes; rows of tiles
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
    const std::int64_t halved = halved_tiles(processors, tiles, tile.columns);
    const std::int64_t turns = (tiles * tile.ranks - halved + processors - 1) / processors;
    const bool is_far =
        std::min(m, band * tile.rows) * k * bytes > cache || (turns > 1 && tile.rows * tile.columns <= 64 * 64);
    // Of 96 columns that come by 64, a quarter is brought for nothing.
    const std::int64_t eighths = !by_rows && tile.columns % 64 != 0 ? 9 : 8;
    const std::int64_t turn =
        tile.tile + leaves * tile.leaf + stages * (is_far ? tile.far_stage : tile.stage) * eighths / 8;
    const std::int64_t cost = tile.launch + turns * turn + (halved > 0 ? 2000 + turn * 9 / 16 : 0);
    if (best != nullptr && cost >= least) continue;
    best = &tile;
    least = cost;
  }
  return *best;
}

/// The same for m from 65 to 128, where matrix_small_table has other schedules: null if one of those is the better one.
/// As measured, a tile is better here that keeps two thirds of the multiprocessors at work in one turn.
/// \param by_rows  the weights are stored [N, K]; else columns of them come by 64
constexpr const LargeTile* choose_large_tile_for_few(int processors, std::int64_t m, std::int64_t n,
                                                     std::int64_t leaves, bool by_rows) {
  if (m <= 64 || m > 128) return nullptr;
  const LargeTile* best = nullptr;
  for (const LargeTile& tile : large_tiles) {
    if (!by_rows && tile.columns % 64 != 0) continue;
    const std::int64_t tiles = (m + tile.rows - 1) / tile.rows * ((n + tile.columns - 1) / tile.columns);
    const bool is_one_turn = tiles * tile.ranks <= processors && 3 * tiles >= 2 * processors;
    if (tile.ranks == 1 ? is_one_turn : leaves == tile.ranks && tiles * tile.ranks <= processors) best = &tile;
  }
  return best;
}

}  // namespace invar::schedule

#endif
