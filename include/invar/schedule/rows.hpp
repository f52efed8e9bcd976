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
  /// Threads of a team that shares a row. GPUs only.
  int team_size;
  /// Leaves that a thread folds at a time; a power of two, raised where a row has many leaves. Hosts only.
  int leaves_per_task = 1;
  /// Teams that share a row; clipped to what the device allows. GPUs only.
  int teams_per_row = 1;
  /// The row stays in registers where it fits; else as above. GPUs only.
  bool holds_row = false;
  /// All threads share one row after the other, in a launch for each pass over it. Hosts only.
  bool in_parts = false;
  /// Outputs are written past the caches, where their alignment allows it. Hosts only.
  bool past_caches = false;
  /// One thread takes all rows: the calling one, without a launch. Hosts only.
  bool by_one_thread = false;
};

/// The schedules of the row operations on a backend, and the choice among them; this one is for hosts.
template <class Exec>
struct RowsSchedules {
  static constexpr std::array<Rows, 5> table{{
      {"row per thread", 1},
      {"one row after the other in parts, one leaf a task", 1, 1, 1, false, true},
      {"one row after the other in parts, 8 leaves a task", 1, 8, 1, false, true},
      {"row per thread, outputs past the caches", 1, 1, 1, false, false, true},
      {"all rows to one thread", 1, 1, 1, false, false, false, true},
  }};

  /// Whole rows to threads while there are enough of them, shared rows otherwise. Up to 8 leaves, 4096 elements at the
  /// default size, are done before other threads have heard of them; below 32 leaves a second launch costs more than it
  /// saves. Outputs of many leaves, 32 MiB of float at the default size, do not wait in a cache for their
  /// reader anyway; but each row's end waits for memory, which short rows would feel.
  static const Rows& choose(const Exec& exec, std::int64_t rows, std::int64_t leaves) {
    const std::int64_t workers = Backend<Exec>::workers(exec);
    if (rows * leaves <= 8) return table[4];
    if (workers == 1 || rows >= 4 * workers || rows % workers == 0 || leaves < 32)
      return leaves >= 8 && rows * leaves >= (1 << 14) ? table[3] : table[0];
    return leaves < 16 * workers ? table[1] : table[2];
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
