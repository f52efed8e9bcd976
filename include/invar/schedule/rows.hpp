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
  /// Leaves that a thread folds at a time; a power of two, raised where a row has many leaves. Hosts only.
  int leaves_per_task = 1;
  /// Teams that share a row; clipped to what the device allows. GPUs only.
  int teams_per_row = 1;
  /// The row stays in registers where it fits; else as above. GPUs only.
  bool holds_row = false;
};

/// The schedules of the row operations on a backend, and the choice among them; this one is for hosts.
template <class Exec>
struct RowsSchedules {
  static constexpr std::array<Rows, 4> table{{
      {"row per thread", 1, 1},
      {"row per team, one leaf a task", 1 << 20, 1},
      {"row per team, 8 leaves a task", 1 << 20, 8},
      {"row per pair of threads, 2 leaves a task", 2, 2},
  }};

  /// Whole rows to threads while there are enough of them, shared rows otherwise.
  static const Rows& choose(const Exec& exec, std::int64_t rows, std::int64_t leaves) {
    const int workers = Backend<Exec>::workers(exec);
    if (workers == 1 || rows >= 4 * static_cast<std::int64_t>(workers) || leaves < 8) return table[0];
    return leaves < 64 ? table[1] : table[2];
  }
};

/// Every schedule of the row operations. Tests run each of them against the reference.
template <class Exec>
inline constexpr const auto& rows_table = RowsSchedules<Exec>::table;

/// The schedule for a shape.
template <class Exec>
const Rows& choose_rows(const Exec& exec, std::int64_t rows, std::int64_t leaves) {
  return RowsSchedules<Exec>::choose(exec, rows, leaves);
}

}  // namespace invar::schedule

#ifdef KOKKOS_ENABLE_CUDA
#include <invar/backends/cuda/row_schedules.hpp>
#endif

#endif
