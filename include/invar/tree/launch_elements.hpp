// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The launch of operations whose work items do not meet: items 0 … n − 1 in any order, columns too.
#ifndef INVAR_TREE_LAUNCH_ELEMENTS_HPP
#define INVAR_TREE_LAUNCH_ELEMENTS_HPP

#include <invar/schedule/elementwise.hpp>

#include <Kokkos_Core.hpp>
#include <cstdint>

namespace invar::tree {

/// The kernels of the elementwise operations on a backend, in backends/: run(label, exec, items, columns, chosen, body)
/// launches body(item, line) for every item; there is at least one. A line gives the columns to the body: by map(item,
/// f, out, operands...), which stores f(operands...) in every column of the outputs, where an output may be an
/// operand's view; or by for_each(body), which calls body(column) for every column.
template <class Exec>
struct ElementKernels {
  static_assert(!sizeof(Exec), "Invar: the elementwise operations have no kernels for this execution space");
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

#include <invar/backends/host/element_kernels.hpp>
#ifdef KOKKOS_ENABLE_CUDA
#include <invar/backends/cuda/element_kernels.hpp>
#endif

#endif
