// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The kernels of all row operations on hosts: a row to a thread, or in parts to all threads.
#ifndef INVAR_TREE_ROW_KERNEL_HPP
#define INVAR_TREE_ROW_KERNEL_HPP

#include <invar/backends/host/columns.hpp>
#include <invar/backends/host/row_leaf.hpp>
#include <invar/num/types.hpp>
#include <invar/schedule/rows.hpp>
#include <invar/tree/aligned.hpp>
#include <invar/tree/lanes.hpp>
#include <invar/tree/outputs.hpp>

#include <Kokkos_Core.hpp>
#include <concepts>
#include <cstdint>
#include <string>

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

/// The value of leaves [begin, end) of a row, an aligned group of them.
template <class R>
KOKKOS_FUNCTION typename R::value_type fold_leaves(const R& reduction, std::int64_t row, std::int64_t columns,
                                                   std::int64_t begin, std::int64_t end) {
  using Value = typename R::value_type;
  using Contract = typename R::contract;
  constexpr std::int64_t size = Contract::leaf;
  return fold_aligned<Value>(
      begin, end,
      [&](std::int64_t i) {
        return reduction.leaf(
            backends::host::RowLeaf<Contract>(row, i * size, (i + 1) * size < columns ? (i + 1) * size : columns));
      },
      [&](const Value& a, const Value& b) { return reduction.join(a, b); });
}

/// The value of a row from that of all its leaves. A reduction may put off to here what the leaf that wins has to tell,
/// by finished(value, leaf); its value then has the index of that leaf's begin.
template <class R>
KOKKOS_FUNCTION typename R::value_type finish_row(const R& reduction, std::int64_t row, std::int64_t columns,
                                                  const typename R::value_type& value) {
  using Leaf = backends::host::RowLeaf<typename R::contract>;
  constexpr std::int64_t size = R::contract::leaf;
  if constexpr (requires(const Leaf leaf) { reduction.finished(value, leaf); })
    return reduction.finished(value,
                              Leaf(row, value.index, value.index + size < columns ? value.index + size : columns));
  else
    return value;
}

/// What every view of a row is to the body of an operation: it evaluates reductions and maps columns. This one belongs
/// to one thread.
class RowOfThread {
 public:
  KOKKOS_FUNCTION RowOfThread(std::int64_t columns, bool past_caches) : columns_(columns), past_caches_(past_caches) {}

  KOKKOS_FUNCTION std::int64_t columns() const { return columns_; }

  /// The reduction's value over the row, known to every thread that has the row.
  template <RowReduction R>
  KOKKOS_FUNCTION typename R::value_type reduce(std::int64_t row, const R& reduction) const {
    if (columns_ == 0) return reduction.empty();
    return finish_row(reduction, row, columns_,
                      fold_leaves(reduction, row, columns_, 0, leaf_count(columns_, R::contract::leaf)));
  }

  /// Stores f(operands...) in every column of the outputs, spread over the row's threads. An output may be an operand's
  /// view.
  template <class F, class Out, class... Operand>
  KOKKOS_FUNCTION void map(std::int64_t row, const F& f, const Out& out, const Operand&... operand) const {
    backends::host::map_columns(row, 0, columns_, past_caches_, f, out, operand...);
  }

  /// The operand's part of the row, to be handed to reductions and maps. A GPU may keep it in registers; here it stays
  /// where it is.
  template <class Operand>
  KOKKOS_FUNCTION const Operand& hold(std::int64_t /*row*/, const Operand& operand) const {
    return operand;
  }

  /// True in one of the row's threads.
  KOKKOS_FUNCTION bool is_first() const { return true; }

 protected:
  std::int64_t columns_;
  bool past_caches_;
};

// In code that is also compiled for a device a body cannot launch: there every row goes to one thread.
#if !defined(__CUDACC__)
/// A row that all threads of an instance share: each pass over it is a launch of its own.
template <class Exec>
class RowOfAllThreads : public RowOfThread {
 public:
  RowOfAllThreads(const char* label, const Exec& exec, std::int64_t columns, int leaves_per_task)
      : RowOfThread(columns, false), label_(label), exec_(exec), leaves_per_task_(leaves_per_task) {}

  template <RowReduction R>
  typename R::value_type reduce(std::int64_t row, const R& reduction) const {
    using Value = typename R::value_type;
    constexpr int max_tasks = 512;
    if (columns_ == 0) return reduction.empty();
    const std::int64_t leaves = leaf_count(columns_, R::contract::leaf);
    std::int64_t per_task = leaves_per_task_;
    while (leaf_count(leaves, per_task) > max_tasks) per_task *= 2;
    const std::int64_t tasks = leaf_count(leaves, per_task);
    Value partial[max_tasks];
    launch(tasks, [&](std::int64_t task) {
      const std::int64_t begin = task * per_task;
      partial[task] =
          fold_leaves(reduction, row, columns_, begin, begin + per_task < leaves ? begin + per_task : leaves);
    });
    // A task is an aligned subtree, so the tree over tasks completes the tree over leaves.
    return finish_row(reduction, row, columns_,
                      fold_aligned<Value>(
                          0, tasks, [&](std::int64_t i) { return partial[i]; },
                          [&](const Value& a, const Value& b) { return reduction.join(a, b); }));
  }

  template <class F, class Out, class... Operand>
  void map(std::int64_t row, const F& f, const Out& out, const Operand&... operand) const {
    constexpr std::int64_t line = 64;  // columns: no two threads write to one line of cache, where rows begin with one
    const std::int64_t lines = leaf_count(columns_, line);
    const std::int64_t per_part = line * leaf_count(lines, schedule::Backend<Exec>::workers(exec_));
    launch(leaf_count(columns_, per_part), [&](std::int64_t part) {
      const std::int64_t begin = part * per_part;
      backends::host::map_columns(row, begin, begin + per_part < columns_ ? begin + per_part : columns_, false, f, out,
                                  operand...);
    });
  }

 private:
  /// A host's parallel_for is over when it returns.
  template <class F>
  void launch(std::int64_t parts, const F& f) const {
    Kokkos::parallel_for(label_, Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec_, 0, parts), f);
  }
  const char* label_;
  const Exec& exec_;
  int leaves_per_task_;
};
#endif

/// The extents of a row operation.
struct RowShape {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t leaf;  ///< the contract's
};

/// The kernels of the row operations on a backend; this one is generic, and a backend with kernels of its own
/// specialises it.
template <class Exec>
struct RowKernels {
  /// Launches body(row_index, line) for every row, asynchronously in exec. The body says what it needs:
  /// Body::contract of its reductions, Body::element_bytes of the narrowest element read, Body::value_bytes of the
  /// largest value reduced to, Body::held_operands handed to hold(), and body.every_operand(test): whether test holds
  /// for all operands and outputs.
  template <class Body>
  static void map(const char* label, const Exec& exec, const RowShape& shape, const schedule::Rows& chosen,
                  const Body& body) {
#if !defined(__CUDACC__)
    if (chosen.in_parts) {
      for (std::int64_t row = 0; row < shape.rows; ++row)
        body(row, RowOfAllThreads<Exec>(label, exec, shape.columns, chosen.leaves_per_task));
      return;
    }
#endif
    const std::int64_t columns = shape.columns;
    const bool past_caches = chosen.past_caches;
    Kokkos::parallel_for(
        label, Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, shape.rows),
        KOKKOS_LAMBDA(std::int64_t row) { body(row, RowOfThread(columns, past_caches)); });
  }

  /// The same for a body that only reduces: body.reduction is evaluated, and body.write(row, value) stores the result.
  template <class Body>
  static void reduce(const char* label, const Exec& exec, const RowShape& shape, const schedule::Rows& chosen,
                     const Body& body) {
    map(label, exec, shape, chosen, body);
  }
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

#ifdef KOKKOS_ENABLE_CUDA
#include <invar/backends/cuda/row_kernels.hpp>
#endif

#endif
