// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The schedules of the row operations on NVIDIA GPUs, and the choice among them.
#ifndef INVAR_BACKENDS_CUDA_ROW_SCHEDULES_HPP
#define INVAR_BACKENDS_CUDA_ROW_SCHEDULES_HPP

#include <invar/schedule/rows.hpp>

#include <array>
#include <cstdint>

namespace invar::schedule {

template <>
struct RowsSchedules<Kokkos::Cuda> {
  static constexpr std::array<Rows, 12> table{{
      {"row in registers where it fits, or in parts where there are many", 512, 1, 16, true},
      {"warp per row", 32},
      {"block of 64 per row", 64},
      {"block of 256 per row", 256},
      {"block of 512 per row", 512},
      {"2 blocks of 512 per row", 512, 1, 2},
      {"4 blocks of 512 per row", 512, 1, 4},
      {"8 blocks of 512 per row", 512, 1, 8},
      {"8 blocks of 256 per row", 256, 1, 8},
      {"16 blocks of 512 per row", 512, 1, 16},
      {"as many blocks of 256 per row as it has work for", 256, 1, 1 << 20},
      {"row in parts, where the operation needs it alone", 288, 1, 1, true},
  }};

  /// Rows are held where they may fit; the kernel knows whether they do.
  static const Rows& choose(const Kokkos::Cuda& exec, std::int64_t rows, std::int64_t leaves) {
    return leaves <= 512 ? table[0] : choose_shared(exec, rows, leaves);
  }
  /// For rows that are not held. Whole rows to warps while there are enough rows to fill the device; the fewer there
  /// are, the more warps share one.
  static const Rows& choose_shared(const Kokkos::Cuda& exec, std::int64_t rows, std::int64_t leaves) {
    const std::int64_t warps = Backend<Kokkos::Cuda>::workers(exec);
    const std::int64_t multiprocessors = Backend<Kokkos::Cuda>::multiprocessors(exec);
    if (leaves <= 4 || (rows * 4 >= warps && leaves <= 32)) return table[1];
    if (leaves < 32) return table[3];
    if (leaves < 128) return table[4];
    if (rows * 16 <= multiprocessors) return leaves >= 2048 ? table[10] : table[9];
    if (rows * 8 <= multiprocessors) return table[7];
    return rows <= 4 * multiprocessors ? table[6] : table[4];
  }
};

}  // namespace invar::schedule

#endif
