// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Schedules of attention: how many query rows a task keeps together, and whether a team shares a row's splits.
#ifndef INVAR_SCHEDULE_ATTENTION_HPP
#define INVAR_SCHEDULE_ATTENTION_HPP

#include <invar/schedule/backend.hpp>

#include <array>
#include <cstdint>

namespace invar::schedule {

/// A task of attention. Nothing here reaches the arithmetic.
struct Attention {
  const char* name;
  /// Query rows of one KV head that share a pass over K and V: neighbouring heads of a group, then neighbouring tokens.
  int rows_per_task;
  /// Threads that share the splits of a task; clipped to what the instance has.
  int team_size;
};

/// Most rows that a task keeps together.
inline constexpr int attention_max_rows = 8;

/// The schedules of attention on a backend, and the choice among them; this one is for hosts.
template <class Exec>
struct AttentionSchedules {
  static constexpr std::array<Attention, 4> table{{
      {"row per thread", 1, 1},
      {"3 rows per thread", 3, 1},
      {"8 rows per thread", 8, 1},
      {"4 rows per team, a split a thread", 4, 1 << 20},
  }};

  static const Attention& choose(const Exec& exec, std::int64_t rows, std::int64_t kv_heads, std::int64_t splits) {
    const int workers = Backend<Exec>::workers(exec);
    const auto tasks = [&](std::int64_t rows_per_task) {
      return (rows + rows_per_task - 1) / rows_per_task * kv_heads;
    };
    if (tasks(8) >= 4 * workers || workers == 1) return table[2];
    if (splits > 1 && tasks(4) < 2 * workers) return table[3];
    return tasks(3) >= workers ? table[1] : table[0];
  }
};

/// Every schedule of attention. Tests run each of them against the reference.
template <class Exec>
inline constexpr const auto& attention_table = AttentionSchedules<Exec>::table;

/// The schedule for a shape.
///
/// \param rows    query tokens times heads of a group
/// \param splits  splits of the longest possible KV sequence
template <class Exec>
const Attention& choose_attention(const Exec& exec, std::int64_t rows, std::int64_t kv_heads, std::int64_t splits) {
  return AttentionSchedules<Exec>::choose(exec, rows, kv_heads, splits);
}

}  // namespace invar::schedule

#endif
