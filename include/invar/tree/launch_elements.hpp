// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The launch of operations whose work items do not meet: items 0 … n − 1 in any order.
#ifndef INVAR_TREE_LAUNCH_ELEMENTS_HPP
#define INVAR_TREE_LAUNCH_ELEMENTS_HPP

#include <invar/schedule/elementwise.hpp>
#include <invar/tree/aligned.hpp>

#include <Kokkos_Core.hpp>
#include <cstdint>

namespace invar::tree {

/// Items [begin, end) in ascending order, in one work item.
template <class Body>
struct Chunk {
  Body body;
  std::int64_t items;
  std::int64_t per_task;

  KOKKOS_FUNCTION void operator()(std::int64_t task) const {
    const std::int64_t begin = task * per_task;
    const std::int64_t end = begin + per_task < items ? begin + per_task : items;
    for (std::int64_t i = begin; i < end; ++i) body(i);
  }
};

/// Launches body(i) for every item, asynchronously in exec.
template <class Exec, class Body>
void launch_elements(const char* label, const Exec& exec, std::int64_t items, const schedule::Elementwise* chosen,
                     const Body& body) {
  if (items == 0) return;
  if (chosen == nullptr) chosen = &schedule::choose_elementwise(exec, items);
  const std::int64_t per_task = chosen->items_per_task;
  Kokkos::parallel_for(label,
                       Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, leaf_count(items, per_task)),
                       Chunk<Body>{body, items, per_task});
}

}  // namespace invar::tree

#endif
