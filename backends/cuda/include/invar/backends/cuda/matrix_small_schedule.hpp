// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Schedules of matrix products with few rows on Hopper's matrix unit.
#ifndef INVAR_BACKENDS_CUDA_MATRIX_SMALL_SCHEDULE_HPP
#define INVAR_BACKENDS_CUDA_MATRIX_SMALL_SCHEDULE_HPP

#include <array>
#include <cstdint>

namespace invar::schedule {

/// A tile of outputs, and the blocks that share its leaves. Nothing here reaches the arithmetic.
struct MatrixSmall {
  const char* name;
  int batch;              ///< rows of a tile
  int weights;            ///< columns of a tile
  bool weights_are_rows;  ///< the weights are the instruction's operand of 64 rows; else the batch is
  int cluster;            ///< blocks of a cluster that share the leaves of a tile, where it has so many
};

/// Every schedule of matrix products with few rows. Batches larger than a tile take several.
inline constexpr std::array<MatrixSmall, 30> matrix_small_table{{
    {"8 x 64", 8, 64, true, 1},
    {"8 x 64, leaves over 2", 8, 64, true, 2},
    {"8 x 64, leaves over 4", 8, 64, true, 4},
    {"16 x 64", 16, 64, true, 1},
    {"16 x 64, leaves over 2", 16, 64, true, 2},
    {"16 x 64, leaves over 4", 16, 64, true, 4},
    {"32 x 64", 32, 64, true, 1},
    {"32 x 64, leaves over 2", 32, 64, true, 2},
    {"32 x 64, leaves over 4", 32, 64, true, 4},
    {"64 x 64", 64, 64, true, 1},
    {"64 x 64, leaves over 2", 64, 64, true, 2},
    {"64 x 64, leaves over 4", 64, 64, true, 4},
    {"128 x 64", 128, 64, true, 1},
    {"128 x 64, leaves over 2", 128, 64, true, 2},
    {"128 x 64, leaves over 4", 128, 64, true, 4},
    {"64 rows x 32", 64, 32, false, 1},
    {"64 rows x 32, leaves over 2", 64, 32, false, 2},
    {"64 rows x 32, leaves over 4", 64, 32, false, 4},
    {"64 rows x 48", 64, 48, false, 1},
    {"64 rows x 96", 64, 96, false, 1},
    {"128 rows x 32", 128, 32, false, 1},
    {"128 rows x 32, leaves over 2", 128, 32, false, 2},
    {"128 rows x 32, leaves over 4", 128, 32, false, 4},
    {"128 rows x 48", 128, 48, false, 1},
    {"128 rows x 64", 128, 64, false, 1},
    {"128 rows x 64, leaves over 2", 128, 64, false, 2},
    {"128 rows x 64, leaves over 4", 128, 64, false, 4},
    {"128 rows x 96", 128, 96, false, 1},
    {"128 rows x 96, leaves over 2", 128, 96, false, 2},
    {"128 rows x 96, leaves over 4", 128, 96, false, 4},
}};

/// The schedule for a shape: c is [m, n], and k is cut into leaves.
/// \param processors  of the device
/// \param by_rows  the weights are stored [N, K]; else columns of them come by 64
///
/// What counts is that all processors draw on the memory at once. A tile of so many columns gives each its own as long
/// as there are as many tiles; with fewer, blocks share the leaves of a tile, where all of them run at once (of
/// clusters of four some devices leave an eighth of their processors without); with more, larger tiles read the batch
/// less often. For more than 128 rows only where such tiles are so few that one turn is enough; else null.
inline const MatrixSmall* choose_matrix_small(std::int64_t m, std::int64_t n, std::int64_t leaves, bool by_rows,
                                              std::int64_t processors) {
  const auto entry = [](int batch, int weights, bool weights_are_rows, int cluster) {
    for (const MatrixSmall& e : matrix_small_table)
      if (e.batch == batch && e.weights == weights && e.weights_are_rows == weights_are_rows && e.cluster == cluster)
        return &e;
    return &matrix_small_table[0];
  };
  const auto tiles = [&](std::int64_t weights) { return (n + weights - 1) / weights; };
  const auto cluster_for = [&](std::int64_t weights) {
    if (leaves >= 4 && 4 * tiles(weights) <= processors - processors / 8) return 4;
    return leaves >= 2 && 2 * tiles(weights) <= processors ? 2 : 1;
  };
  const auto is_one_round = [&](std::int64_t weights) { return by_rows && tiles(weights) <= processors; };
  // Tiles of 48 columns where those of 64 leave a fifth of the processors idle.
  const bool suits_48 = is_one_round(48) && tiles(64) <= processors - processors / 5 && cluster_for(64) == 1;
  const int batch = m <= 8 ? 8 : m <= 16 ? 16 : m <= 32 ? 32 : m <= 64 ? 64 : 128;
  if (batch <= 32) return suits_48 ? entry(64, 48, false, 1) : entry(batch, 64, true, cluster_for(64));
  if (batch == 64) {
    if (is_one_round(32)) return entry(64, 32, false, cluster_for(32));
    return suits_48 ? entry(64, 48, false, 1) : entry(64, 64, true, cluster_for(64));
  }
  if (m > 128) {
    // Tiles that are not full of rows get out of step with those that share their weights, and take longer.
    const auto suits = [&](std::int64_t rows, std::int64_t weights, std::int64_t cluster, std::int64_t most) {
      const std::int64_t tiles_m = (m + rows - 1) / rows;
      return tiles_m * rows - m <= rows / 8 && tiles_m * tiles(weights) * cluster <= most;
    };
    if (!by_rows || m > 384) return static_cast<const MatrixSmall*>(nullptr);
    if (leaves >= 4 && suits(128, 64, 4, processors - processors / 8)) return entry(128, 64, false, 4);
    if (m <= 256 && suits(64, 32, 1, processors)) return entry(64, 32, false, 1);
    return suits(64, 48, 1, processors - processors / 4) ? entry(64, 48, false, 1) : nullptr;
  }
  if (!by_rows) {
    if (leaves >= 4 && 8 * tiles(64) <= processors - processors / 8) return entry(64, 64, true, 4);
    if (2 * tiles(64) <= processors) return entry(64, 64, true, 1);
    return leaves > 1 && cluster_for(64) > 1 ? entry(128, 64, true, cluster_for(64)) : entry(128, 64, false, 1);
  }
  if (tiles(32) <= processors / 4 || (is_one_round(32) && leaves == 1)) return entry(128, 32, false, cluster_for(32));
  if (cluster_for(96) == 4) return entry(128, 96, false, 4);
  if (cluster_for(64) == 2) return entry(128, 64, false, 2);
  return entry(128, is_one_round(48) ? 48 : is_one_round(64) ? 64 : 96, false, 1);
}

}  // namespace invar::schedule

#endif
