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
};

/// Every schedule of the elementwise operations. Tests run each of them against the reference.
inline constexpr std::array<Elementwise, 2> elementwise_table{{
    {"one item a task", 1},
    {"8 items a task", 8},
}};

/// The schedule for a number of items.
template <class Exec>
const Elementwise& choose_elementwise(const Exec& exec, std::int64_t items) {
  return items >= 64 * static_cast<std::int64_t>(Backend<Exec>::workers(exec)) ? elementwise_table[1]
                                                                               : elementwise_table[0];
}

}  // namespace invar::schedule

#endif
