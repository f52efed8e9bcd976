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
  bool splits_leaves = false;  ///< the leaves of an output go to different workers and are joined in order; on GPUs
  int kernel = 0;              ///< which one, where a backend has several
};

/// The schedules of matmul on a backend, and the choice among them; this one is for hosts. The kernels are compiled per
/// (tile_m, tile_n).
template <class Exec>
struct MatmulSchedules {
  static constexpr std::array<Matmul, 4> table{{
      {"1 x 64", 1, 64, 1},
      {"4 x 32", 4, 32, 4},
      {"8 x 16", 8, 16, 32},
      {"8 x 32", 8, 32, 64},
  }};

  static const Matmul& choose(const Exec&, std::int64_t m, std::int64_t n, std::int64_t /*k*/) {
    if (m <= 2 && n >= 64) return table[0];
    if (m <= 4) return table[1];
    return n >= 32 ? table[3] : table[2];
  }
};

/// Every schedule of matmul. Tests run each of them against the reference.
template <class Exec>
inline constexpr const auto& matmul_table = MatmulSchedules<Exec>::table;

/// The schedule for a shape: c is [m, n], and k is summed over.
template <class Exec>
const Matmul& choose_matmul(const Exec& exec, std::int64_t m, std::int64_t n, std::int64_t k) {
  return MatmulSchedules<Exec>::choose(exec, m, n, k);
}

}  // namespace invar::schedule

#endif
