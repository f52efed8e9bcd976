// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The elementwise operations on hosts.
#ifndef INVAR_BACKENDS_HOST_ELEMENT_KERNELS_HPP
#define INVAR_BACKENDS_HOST_ELEMENT_KERNELS_HPP

#include <invar/backends/host/columns.hpp>
#include <invar/backends/host/launch.hpp>
#include <invar/schedule/elementwise.hpp>
#include <invar/tree/aligned.hpp>
#include <invar/tree/launch_elements.hpp>

#include <Kokkos_Core.hpp>
#include <cstdint>

namespace invar::backends::host {

/// One thread takes all columns of an item.
class SequentialColumns {
 public:
  KOKKOS_FUNCTION explicit SequentialColumns(std::int64_t columns) : columns_(columns) {}

  template <class F, class Out, class... Operand>
  KOKKOS_FUNCTION void map(std::int64_t row, const F& f, const Out& out, const Operand&... operand) const {
    map_columns(row, 0, columns_, false, f, out, operand...);
  }

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

template <class Exec>
struct ElementKernels {
  template <class Body>
  static void run(const char* label, const Exec& exec, std::int64_t items, std::int64_t columns,
                  const schedule::Elementwise& chosen, const Body& body) {
    const std::int64_t per_task = chosen.items_per_task;
    launch(label, exec, tree::leaf_count(items, per_task), Chunk<Body>{body, items, columns, per_task});
  }
};

}  // namespace invar::backends::host

namespace invar::tree {

#ifdef KOKKOS_ENABLE_OPENMP
template <>
struct ElementKernels<Kokkos::OpenMP> : backends::host::ElementKernels<Kokkos::OpenMP> {};
#endif
#ifdef KOKKOS_ENABLE_SERIAL
template <>
struct ElementKernels<Kokkos::Serial> : backends::host::ElementKernels<Kokkos::Serial> {};
#endif
#ifdef KOKKOS_ENABLE_THREADS
template <>
struct ElementKernels<Kokkos::Threads> : backends::host::ElementKernels<Kokkos::Threads> {};
#endif

}  // namespace invar::tree

#endif
