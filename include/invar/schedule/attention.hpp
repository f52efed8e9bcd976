// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Schedules of attention: how many query rows a task keeps together, and whether threads share a row's splits.
#ifndef INVAR_SCHEDULE_ATTENTION_HPP
#define INVAR_SCHEDULE_ATTENTION_HPP

#include <invar/schedule/backend.hpp>

#include <array>
#include <cstdint>

namespace invar::schedule {

/// What a host's vectors hold side by side.
enum class AttentionLanes {
  rows,     ///< query rows, each in a lane of its own: for many of them
  keys,     ///< positions, then elements of a value: for at most 8 rows of a request
  fitting,  ///< keys for a request's last rows where these are few, rows otherwise
};

/// A task of attention. Nothing here reaches the arithmetic.
struct Attention {
  const char* name;
  /// Query rows of one KV head in a task: neighbouring heads of a group, then neighbouring tokens. Those of one request
  /// share a pass over K and V.
  int rows_per_task;
  /// Threads that share all tasks' splits; clipped to what the instance has. With 1 a thread has a task to itself.
  int team_size;
  /// Only hosts look at it.
  AttentionLanes lanes = AttentionLanes::fitting;
  /// KV heads that a task takes through the positions together, at most, where keys are in the lanes and heads lie side
  /// by side in the cache. Only hosts look at it.
  int kv_heads_per_task = 1;
};

/// The schedules of attention on a backend, and the choice among them; this one is for hosts.
template <class Exec>
struct AttentionSchedules {
  static constexpr int everyone = 1 << 20;
  static constexpr std::array<Attention, 8> table{{
      {"48 rows a thread", 48, 1, AttentionLanes::fitting},
      {"48 rows a thread, rows in lanes", 48, 1, AttentionLanes::rows},
      {"16 rows a thread, rows in lanes", 16, 1, AttentionLanes::rows},
      {"8 rows a thread, keys in lanes", 8, 1, AttentionLanes::keys},
      {"8 rows of up to 8 KV heads a thread, keys in lanes", 8, 1, AttentionLanes::keys, 8},
      {"48 rows, a split a thread", 48, everyone, AttentionLanes::fitting},
      {"8 rows, keys in lanes, a split a thread", 8, everyone, AttentionLanes::keys},
      {"8 rows of up to 8 KV heads, keys in lanes, a split a thread", 8, everyone, AttentionLanes::keys, 8},
  }};

  static const Attention& choose(const Exec& exec, std::int64_t rows, std::int64_t kv_heads, std::int64_t requests) {
    const int workers = Backend<Exec>::workers(exec);
    const bool few = rows <= 8 * requests;  // of each request
    const std::int64_t tasks = (rows + (few ? 8 : 48) - 1) / (few ? 8 : 48) * kv_heads;
    const bool apart = workers == 1 || tasks >= 8 * workers;
    return few ? (apart ? table[4] : table[7]) : (apart ? table[0] : table[5]);
  }
};

/// Every schedule of attention. Tests run each of them against the reference.
template <class Exec>
inline constexpr const auto& attention_table = AttentionSchedules<Exec>::table;

/// The schedule for a shape.
///
/// \param rows      query tokens times heads of a group
/// \param requests  whose tokens these are
template <class Exec>
const Attention& choose_attention(const Exec& exec, std::int64_t rows, std::int64_t kv_heads, std::int64_t requests) {
  return AttentionSchedules<Exec>::choose(exec, rows, kv_heads, requests);
}

}  // namespace invar::schedule

#endif
