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
  int tile_m;                  ///< rows of a register tile
  int tile_n;                  ///< columns of a register tile, or of a task
  int block_m;                 ///< rows of a task, a multiple of tile_m: they share what is read of b
  bool splits_leaves = false;  ///< the leaves of an output go to different workers and are joined in order; on GPUs
  int kernel = 0;              ///< which one, where a backend has several
};

/// The schedules of matmul on a backend, and the choice among them; this one is for hosts.
///
/// There tile_n is the number of columns whose sums a task keeps, at most; several register tiles of one or a few
/// vectors are beside each other in them. Processors with 16 vector registers have tiles of 6 rows where 12 are asked
/// for. Kernel 1 reads a b whose rows are contiguous where it lies; kernel 0 copies its panels into a cache. A
/// PackedMatrix is read where it lies by both.
template <class Exec>
struct MatmulSchedules {
  static constexpr std::array<Matmul, 7> table{{
      {"4 x 1024, in place", 4, 1024, 4, false, 1},
      {"14 x 512, in place", 14, 512, 14, false, 1},
      {"14 x 256, 14 rows", 14, 256, 14},
      {"12 x 256, 96 rows", 12, 256, 96},
      {"14 x 1024, 112 rows", 14, 1024, 112},
      {"14 x 4096, 196 rows", 14, 4096, 196},
      {"14 x 1024, 504 rows", 14, 1024, 504},
  }};

  /// \param packed  b is a PackedMatrix: then smaller blocks pay, as nothing is copied again for each of them
  static const Matmul& choose(const Exec&, std::int64_t m, std::int64_t /*n*/, std::int64_t /*k*/,
                              bool packed = false) {
    if (m <= 4) return table[0];
    if (m <= 14) return table[1];
    if (m <= 112) return table[4];
    return table[packed ? 5 : 6];
  }
};

/// Every schedule of matmul. Tests run each of them against the reference.
template <class Exec>
inline constexpr const auto& matmul_table = MatmulSchedules<Exec>::table;

/// True for an entry of the table, or a copy of one.
template <class Exec>
bool is_in_table(const Matmul& chosen) {
  for (const Matmul& entry : matmul_table<Exec>)
    if (chosen.tile_m == entry.tile_m && chosen.tile_n == entry.tile_n && chosen.block_m == entry.block_m &&
        chosen.kernel == entry.kernel)
      return true;
  return false;
}

/// The schedule for a shape: c is [m, n], and k is summed over.
template <class Exec>
const Matmul& choose_matmul(const Exec& exec, std::int64_t m, std::int64_t n, std::int64_t k) {
  return MatmulSchedules<Exec>::choose(exec, m, n, k);
}

}  // namespace invar::schedule

#endif
