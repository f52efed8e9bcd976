// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Schedules of operations whose outputs are independent.
#ifndef INVAR_SCHEDULE_ELEMENTWISE_HPP
#define INVAR_SCHEDULE_ELEMENTWISE_HPP

#include <invar/schedule/backend.hpp>

#include <array>
#include <cstdint>

namespace invar::schedule {

/// How many neighbouring items a work item of the launch takes.
struct Elementwise {
  const char* name;
  int items_per_task;
  /// Threads that share an item's columns, and teams of so many that do. GPUs only.
  int team_size = 1;
  int teams_per_item = 1;
};

/// The schedules of the elementwise operations on a backend, and the choice among them; this one is for hosts.
template <class Exec>
struct ElementwiseSchedules {
  static constexpr std::array<Elementwise, 2> table{{
      {"one item a task", 1},
      {"8 items a task", 8},
  }};

  /// A few thousand elements are done before other threads have heard of them.
  static const Elementwise& choose(const Exec& exec, std::int64_t items, std::int64_t columns) {
    const std::int64_t workers = Backend<Exec>::workers(exec);
    return items >= 64 * workers || (items <= 8 && items * columns <= 2048) ? table[1] : table[0];
  }
};

/// Every schedule of the elementwise operations. Tests run each of them against the reference.
template <class Exec>
inline constexpr const auto& elementwise_table = ElementwiseSchedules<Exec>::table;

/// The schedule for a number of items, each of so many columns.
template <class Exec>
const Elementwise& choose_elementwise(const Exec& exec, std::int64_t items, std::int64_t columns) {
  return ElementwiseSchedules<Exec>::choose(exec, items, columns);
}

}  // namespace invar::schedule

#ifdef KOKKOS_ENABLE_CUDA
#include <invar/backends/cuda/element_schedules.hpp>
#endif

#endif
