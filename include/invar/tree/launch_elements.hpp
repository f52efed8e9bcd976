// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The launch of operations whose work items do not meet: items 0 … n − 1 in any order, columns too.
#ifndef INVAR_TREE_LAUNCH_ELEMENTS_HPP
#define INVAR_TREE_LAUNCH_ELEMENTS_HPP

#include <invar/backends/host/columns.hpp>
#include <invar/schedule/elementwise.hpp>
#include <invar/tree/aligned.hpp>

#include <Kokkos_Core.hpp>
#include <cstdint>

namespace invar::tree {

/// One thread takes all columns of an item.
class SequentialColumns {
 public:
  KOKKOS_FUNCTION explicit SequentialColumns(std::int64_t columns) : columns_(columns) {}

  /// Stores f(operands...) in every column of the outputs. An output may be an operand's view.
  template <class F, class Out, class... Operand>
  KOKKOS_FUNCTION void map(std::int64_t row, const F& f, const Out& out, const Operand&... operand) const {
    backends::host::map_columns(row, 0, columns_, false, f, out, operand...);
  }

  /// Calls body(column) for every column.
  template <class Body>
  KOKKOS_FUNCTION void for_each(const Body& body) const {
    for (std::int64_t j = 0; j < columns_; ++j) body(j);
  }

 private:
  std::int64_t columns_;
};

/// Items [begin, end) in ascending order, in one work item.
template <class Body>
struct Chunk {
  Body body;
  std::int64_t items;
  std::int64_t columns;
  std::int64_t per_task;

  KOKKOS_FUNCTION void operator()(std::int64_t task) const {
    const std::int64_t begin = task * per_task;
    const std::int64_t end = begin + per_task < items ? begin + per_task : items;
    for (std::int64_t i = begin; i < end; ++i) body(i, SequentialColumns(columns));
  }
};

/// The kernels of the elementwise operations on a backend; this one is generic, and a backend with kernels of its own
/// specialises it.
template <class Exec>
struct ElementKernels {
  /// There is at least one item.
  template <class Body>
  static void run(const char* label, const Exec& exec, std::int64_t items, std::int64_t columns,
                  const schedule::Elementwise& chosen, const Body& body) {
    const std::int64_t per_task = chosen.items_per_task;
    Kokkos::parallel_for(
        label, Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, leaf_count(items, per_task)),
        Chunk<Body>{body, items, columns, per_task});
  }
};

/// Launches body(item, line) for every item, asynchronously in exec; the line gives the columns to the body.
template <class Exec, class Body>
void launch_elements(const char* label, const Exec& exec, std::int64_t items, std::int64_t columns,
                     const schedule::Elementwise* chosen, const Body& body) {
  if (items == 0) return;
  if (chosen == nullptr) chosen = &schedule::choose_elementwise(exec, items, columns);
  ElementKernels<Exec>::run(label, exec, items, columns, *chosen, body);
}

}  // namespace invar::tree

#ifdef KOKKOS_ENABLE_CUDA
#include <invar/backends/cuda/element_kernels.hpp>
#endif

#endif
