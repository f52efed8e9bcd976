// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What all row operations share: what they give to a backend's kernels, and the launch.
#ifndef INVAR_TREE_ROW_KERNEL_HPP
#define INVAR_TREE_ROW_KERNEL_HPP

#include <invar/schedule/rows.hpp>
#include <invar/tree/aligned.hpp>
#include <invar/tree/lanes.hpp>

#include <Kokkos_Core.hpp>
#include <concepts>
#include <cstdint>

namespace invar::tree {

/// What a row operation gives to the kernel: the value of one leaf, the join of two neighbouring subtrees, and the
/// value of an empty row. The kernel decides who evaluates which leaf, never in which tree.
template <class R>
concept RowReduction = requires(const R r, typename R::value_type v, const SequentialLeaf<typename R::contract> leaf) {
  { R::element_bytes } -> std::convertible_to<int>;
  { r.leaf(leaf) } -> std::same_as<typename R::value_type>;
  { r.join(v, v) } -> std::same_as<typename R::value_type>;
  { r.empty() } -> std::same_as<typename R::value_type>;
};

/// The extents of a row operation.
struct RowShape {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t leaf;  ///< the contract's
};

/// The kernels of the row operations on a backend, in backends/.
///
/// map(label, exec, shape, chosen, body) launches body(row_index, line) for every row, asynchronously in exec. The body
/// says what it needs: Body::contract of its reductions, Body::element_bytes of the narrowest element read,
/// Body::value_bytes of the largest value reduced to, Body::held_operands handed to hold(), and
/// body.every_operand(test): whether test holds for all operands and outputs.
///
/// reduce() does the same for a body that only reduces: body.reduction is evaluated, and body.write(row, value) stores
/// the result.
///
/// A line is what every view of a row is to the body of an operation: reduce(row, reduction) gives the reduction's
/// value over the row to every thread that has the row; map(row, f, out, operands...) stores f(operands...) in every
/// column of the outputs, where an output may be an operand's view; hold(row, operand) is the operand's part of the
/// row, to be handed to both; columns() is the row's length; and is_first() is true in one of the row's threads.
template <class Exec>
struct RowKernels {
  static_assert(!sizeof(Exec), "Invar: the row operations have no kernels for this execution space");
};

/// The given schedule, or the one that follows from the shape.
template <class Exec>
const schedule::Rows& rows_schedule(const Exec& exec, const RowShape& shape, const schedule::Rows* given) {
  return given != nullptr ? *given : schedule::choose_rows(exec, shape.rows, leaf_count(shape.columns, shape.leaf));
}

/// Launches body(row_index, line) for every row of an operation that writes every column: nothing to do without any.
template <class Contract, class Exec, class Body>
void launch_map_rows(const char* label, const Exec& exec, std::int64_t rows, std::int64_t columns,
                     const schedule::Rows* given, const Body& body) {
  if (rows == 0 || columns == 0) return;
  const RowShape shape{rows, columns, Contract::leaf};
  RowKernels<Exec>::map(label, exec, shape, rows_schedule(exec, shape, given), body);
}

}  // namespace invar::tree

#include <invar/backends/host/row_kernels.hpp>
#ifdef KOKKOS_ENABLE_CUDA
#include <invar/backends/cuda/row_kernels.hpp>
#endif

#endif
