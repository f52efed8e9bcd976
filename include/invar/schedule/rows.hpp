// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Schedules of the row operations: how many threads share a row, and how much each takes at a time.
#ifndef INVAR_SCHEDULE_ROWS_HPP
#define INVAR_SCHEDULE_ROWS_HPP

#include <invar/schedule/backend.hpp>

#include <array>
#include <cstdint>

namespace invar::schedule {

/// How one row is spread over threads. Nothing here reaches the arithmetic.
struct Rows {
  const char* name;
  /// Threads that share a row; clipped to what the instance has.
  int team_size;
  /// Leaves that a thread folds at a time; a power of two, raised where a row has many leaves.
  int leaves_per_task;
};

/// Every schedule of the row operations. Tests run each of them against the reference.
inline constexpr std::array<Rows, 4> rows_table{{
    {"row per thread", 1, 1},
    {"row per team, one leaf a task", 1 << 20, 1},
    {"row per team, 8 leaves a task", 1 << 20, 8},
    {"row per pair of threads, 2 leaves a task", 2, 2},
}};

/// The schedule for a shape: whole rows to threads while there are enough of them, shared rows otherwise.
template <class Exec>
const Rows& choose_rows(const Exec& exec, std::int64_t rows, std::int64_t leaves) {
  const int workers = Backend<Exec>::workers(exec);
  if (workers == 1 || rows >= 4 * static_cast<std::int64_t>(workers) || leaves < 8) return rows_table[0];
  return leaves < 64 ? rows_table[1] : rows_table[2];
}

}  // namespace invar::schedule

#endif
