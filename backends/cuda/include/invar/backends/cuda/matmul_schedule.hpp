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
/// tiled in registers. Where outputs alone are too few to fill the device, each leaf of an output goes to a block of
/// its own, and a second kernel joins them. For double the matrix unit computes the tiles, the lower one 64 columns
/// wide.
template <>
struct MatmulSchedules<Kokkos::Cuda> {
  static constexpr std::array<Matmul, 12> table{{
      {"4 rows", 4, 1, 4, false, false},
      {"4 rows, a leaf a block", 4, 1, 4, true, false},
      {"8 rows", 4, 2, 8, false, false},
      {"8 rows, a leaf a block", 4, 2, 8, true, false},
      {"16 rows", 4, 4, 16, false, false},
      {"16 rows, a leaf a block", 4, 4, 16, true, false},
      {"32 rows", 8, 4, 32, false, false},
      {"32 rows, a leaf a block", 8, 4, 32, true, false},
      {"64 x 128", 8, 8, 64, false, false},
      {"64 x 128, a leaf a block", 8, 8, 64, true, false},
      {"128 x 128", 8, 8, 128, false, false},
      {"128 x 128, a leaf a block", 8, 8, 128, true, false},
  }};

  static const Matmul& choose(const Kokkos::Cuda& exec, std::int64_t m, std::int64_t n, std::int64_t /*k*/) {
    const std::int64_t processors = exec.cuda_device_prop().multiProcessorCount;
    const auto blocks = [&](std::int64_t rows) { return (m + rows - 1) / rows * ((n + 127) / 128); };
    if (m <= 32) {
      const int first = m <= 4 ? 0 : m <= 8 ? 2 : m <= 16 ? 4 : 6;
      return table[blocks(table[first].block_m) >= 4 * processors ? first : first + 1];
    }
    if (m <= 64) return table[blocks(64) >= 4 * processors ? 8 : 9];
    return table[blocks(128) >= 2 * processors ? 10 : 11];
  }
};

}  // namespace invar::schedule

#endif
