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
  int together = 1;       ///< or blocks of a cluster that bring the batch together, each with a tile of its own
};

/// Every schedule of matrix products with few rows. Batches larger than a tile take several.
inline constexpr std::array<MatrixSmall, 45> matrix_small_table{{
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
    {"64 x 128", 64, 128, true, 1},
    {"128 x 128", 128, 128, true, 1},
    {"64 x 192", 64, 192, true, 1},
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
    {"64 rows x 32, two together", 64, 32, false, 1, 2},
    {"64 rows x 32, four together", 64, 32, false, 1, 4},
    {"64 rows x 48, two together", 64, 48, false, 1, 2},
    {"64 rows x 48, four together", 64, 48, false, 1, 4},
    {"128 rows x 32, two together", 128, 32, false, 1, 2},
    {"128 rows x 32, four together", 128, 32, false, 1, 4},
    {"128 rows x 48, two together", 128, 48, false, 1, 2},
    {"128 rows x 48, four together", 128, 48, false, 1, 4},
    {"128 rows x 64, two together", 128, 64, false, 1, 2},
    {"128 rows x 64, four together", 128, 64, false, 1, 4},
    {"128 rows x 96, two together", 128, 96, false, 1, 2},
    {"128 rows x 96, four together", 128, 96, false, 1, 4},
}};

/// The schedule for a shape: c is [m, n], and k is cut into leaves.
/// \param processors  of the device
/// \param by_rows  the weights are stored [N, K]; else columns of them come by 64
inline const MatrixSmall& choose_matrix_small(std::int64_t m, std::int64_t n, std::int64_t leaves, bool by_rows,
                                              std::int64_t processors) {
  const auto entry = [](int batch, int weights, bool weights_are_rows, int cluster) -> const MatrixSmall& {
    for (const MatrixSmall& e : matrix_small_table)
      if (e.batch == batch && e.weights == weights && e.weights_are_rows == weights_are_rows && e.cluster == cluster)
        return e;
    return matrix_small_table[0];
  };
  // Blocks share leaves where all of them run at once. A block that streams 64 columns of weights has so many bytes on
  // the way that half of the processors draw all that the memory gives.
  const auto cluster_for = [&](std::int64_t weights, std::int64_t blocks) {
    const std::int64_t tiles = (n + weights - 1) / weights;
    return leaves >= 4 && 4 * tiles <= blocks ? 4 : leaves >= 2 && 2 * tiles <= blocks ? 2 : 1;
  };
  const auto streams = [&](int batch) -> const MatrixSmall& {
    return entry(batch, 64, true, cluster_for(64, processors * 11 / 20));
  };
  const bool is_narrow = n <= 16 * processors && leaves > 1;
  // Blocks of 48 columns fill one round of processors better; many rounds favour larger ones.
  const bool is_one_round = by_rows && n <= 48 * processors;
  if (m <= 16) return streams(m <= 8 ? 8 : 16);
  if (m <= 32) return is_narrow || !is_one_round ? streams(32) : entry(64, 48, false, 1);
  if (m <= 64) {
    if (!by_rows) return streams(64);
    if (is_narrow) return entry(64, 32, false, cluster_for(32, processors));
    return is_one_round ? entry(64, 48, false, 1) : entry(64, 64, true, 1);
  }
  if (!by_rows) return is_narrow ? streams(128) : entry(128, 64, false, 1);
  if (!is_narrow) return is_one_round ? entry(128, 48, false, 1) : entry(128, 96, false, 1);
  if (n <= 8 * processors) return entry(128, 32, false, cluster_for(32, processors));
  return entry(128, 64, false, cluster_for(64, processors) == 4 ? 4 : 1);
}

}  // namespace invar::schedule

#endif
