// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Schedules of matmul: the register tile and the rows that a task keeps together.
#ifndef INVAR_SCHEDULE_MATMUL_HPP
#define INVAR_SCHEDULE_MATMUL_HPP

#include <invar/schedule/backend.hpp>

#include <array>
#include <cstdint>

namespace invar::schedule {

/// A tile of outputs. Nothing here reaches the arithmetic.
struct Matmul {
  const char* name;
  int tile_m;   ///< rows of a register tile
  int tile_n;   ///< columns of a register tile and of a task
  int block_m;  ///< rows of a task, a multiple of tile_m: they share one packed panel of b
};

/// Every schedule of matmul. Tests run each of them against the reference. The kernels are compiled per (tile_m,
/// tile_n).
inline constexpr std::array<Matmul, 4> matmul_table{{
    {"1 x 64", 1, 64, 1},
    {"4 x 32", 4, 32, 4},
    {"8 x 16", 8, 16, 32},
    {"8 x 32", 8, 32, 64},
}};

/// The schedule for a shape.
inline const Matmul& choose_matmul(std::int64_t m, std::int64_t n) {
  if (m <= 2 && n >= 64) return matmul_table[0];
  if (m <= 4) return matmul_table[1];
  return n >= 32 ? matmul_table[3] : matmul_table[2];
}

}  // namespace invar::schedule

#endif
