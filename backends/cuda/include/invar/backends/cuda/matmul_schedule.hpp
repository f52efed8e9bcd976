// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Schedules of matmul on CUDA.
#ifndef INVAR_BACKENDS_CUDA_MATMUL_SCHEDULE_HPP
#define INVAR_BACKENDS_CUDA_MATMUL_SCHEDULE_HPP

#include <invar/schedule/matmul.hpp>

#include <Kokkos_Core.hpp>

#include <array>
#include <cstdint>

namespace invar::schedule {

/// On a GPU tile_m × tile_n are the outputs of a thread and block_m the rows of a block. Few rows stream b, many are
/// tiled in registers, and so are 32 of float in the usual layouts; for double the matrix unit computes the tiles of 64
/// and 128 rows, as 64 × 64. Where outputs alone are too few to fill the device, each leaf of an output goes to a block
/// of its own, and a second kernel joins them. Up to 4 rows the warps of a block share an output's leaves anyway.
template <>
struct MatmulSchedules<Kokkos::Cuda> {
  static constexpr std::array<Matmul, 13> table{{
      {"1 row", 1, 1, 1, false},
      {"4 rows", 4, 1, 4, false},
      {"4 rows, a leaf a block", 4, 1, 4, true},
      {"8 rows", 4, 2, 8, false},
      {"8 rows, a leaf a block", 4, 2, 8, true},
      {"16 rows", 4, 4, 16, false},
      {"16 rows, a leaf a block", 4, 4, 16, true},
      {"32 rows", 8, 4, 32, false},
      {"32 rows, a leaf a block", 8, 4, 32, true},
      {"64 x 128", 8, 8, 64, false},
      {"64 x 128, a leaf a block", 8, 8, 64, true},
      {"128 x 128", 8, 8, 128, false},
      {"128 x 128, a leaf a block", 8, 8, 128, true},
  }};

  static const Matmul& choose(const Kokkos::Cuda& exec, std::int64_t m, std::int64_t n, std::int64_t /*k*/) {
    const std::int64_t processors = exec.cuda_device_prop().multiProcessorCount;
    const auto blocks = [&](std::int64_t rows, std::int64_t columns) {
      return (m + rows - 1) / rows * ((n + columns - 1) / columns);
    };
    if (m <= 4) return table[4 * blocks(4, 32) < processors ? 2 : m == 1 ? 0 : 1];
    if (m <= 16) return table[streams(m <= 8 ? 3 : 5, blocks(m <= 8 ? 8 : 16, 128), processors)];
    // A tile beyond the end of a costs what a whole one does. A row of a smaller tile costs more: in percent, near what
    // an H200 took for 128 rows and b [K, N] (110 and 105).
    const auto cost = [&](std::int64_t rows, std::int64_t percent) { return (m + rows - 1) / rows * rows * percent; };
    const std::int64_t in_32 = cost(32, 112), in_64 = cost(64, 104), in_128 = cost(128, 100);
    if (in_32 < in_64 && in_32 < in_128) return table[streams(7, blocks(32, 128), processors)];
    if (in_64 < in_128) return table[fills(blocks(64, 128), 3 * processors) ? 9 : 10];
    return table[fills(blocks(128, 128), 2 * processors) ? 11 : 12];
  }

 private:
  /// The entry, or the one after it, where the blocks are too few for whole outputs.
  static int streams(int entry, std::int64_t blocks, std::int64_t processors) {
    return blocks >= 4 * processors ? entry : entry + 1;
  }
  /// True where blocks that run `places` at a time leave few places empty in the end.
  static bool fills(std::int64_t blocks, std::int64_t places) {
    const std::int64_t waves = (blocks + places - 1) / places;
    return waves > 4 || 10 * blocks >= 9 * waves * places;
  }
};

}  // namespace invar::schedule

#endif
