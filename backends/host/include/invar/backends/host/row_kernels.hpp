// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The kernels of all row operations on hosts: a row to a thread, or in parts to all threads.
#ifndef INVAR_BACKENDS_HOST_ROW_KERNELS_HPP
#define INVAR_BACKENDS_HOST_ROW_KERNELS_HPP

#include <invar/backends/host/columns.hpp>
#include <invar/backends/host/launch.hpp>
#include <invar/backends/host/row_leaf.hpp>
#include <invar/schedule/rows.hpp>
#include <invar/tree/aligned.hpp>
#include <invar/tree/row_kernel.hpp>

#include <Kokkos_Core.hpp>
#include <cstdint>

namespace invar::backends::host {

/// The value of leaves [begin, end) of a row, an aligned group of them.
template <class R>
KOKKOS_FUNCTION typename R::value_type fold_leaves(const R& reduction, std::int64_t row, std::int64_t columns,
                                                   std::int64_t begin, std::int64_t end) {
  using Value = typename R::value_type;
  using Leaf = RowLeaf<typename R::contract>;
  constexpr std::int64_t size = R::contract::leaf;
  const auto leaf = [&](std::int64_t i) {
    return Leaf(row, i * size, (i + 1) * size < columns ? (i + 1) * size : columns);
  };
  const auto join = [&](const Value& a, const Value& b) { return reduction.join(a, b); };
  return tree::fold_aligned<Value>(
      begin, end, [&](std::int64_t i) { return reduction.leaf(leaf(i)); }, join);
}

/// The value of a row from that of all its leaves. A reduction may put off to here what the leaf that wins has to tell,
/// by finished(value, leaf); its value then has the index of that leaf's begin.
template <class R>
KOKKOS_FUNCTION typename R::value_type finish_row(const R& reduction, std::int64_t row, std::int64_t columns,
                                                  const typename R::value_type& value) {
  using Leaf = RowLeaf<typename R::contract>;
  constexpr std::int64_t size = R::contract::leaf;
  if constexpr (requires(const Leaf leaf) { reduction.finished(value, leaf); })
    return reduction.finished(value,
                              Leaf(row, value.index, value.index + size < columns ? value.index + size : columns));
  else
    return value;
}

/// A row that belongs to one thread.
class RowOfThread {
 public:
  KOKKOS_FUNCTION RowOfThread(std::int64_t columns, bool past_caches) : columns_(columns), past_caches_(past_caches) {}

  KOKKOS_FUNCTION std::int64_t columns() const { return columns_; }

  template <tree::RowReduction R>
  KOKKOS_FUNCTION typename R::value_type reduce(std::int64_t row, const R& reduction) const {
    if (columns_ == 0) return reduction.empty();
    return finish_row(reduction, row, columns_,
                      fold_leaves(reduction, row, columns_, 0, tree::leaf_count(columns_, R::contract::leaf)));
  }

  template <class F, class Out, class... Operand>
  KOKKOS_FUNCTION void map(std::int64_t row, const F& f, const Out& out, const Operand&... operand) const {
    map_columns(row, 0, columns_, past_caches_, f, out, operand...);
  }

  /// A GPU may keep a row in registers; here it stays where it is.
  template <class Operand>
  KOKKOS_FUNCTION const Operand& hold(std::int64_t /*row*/, const Operand& operand) const {
    return operand;
  }

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

  template <tree::RowReduction R>
  typename R::value_type reduce(std::int64_t row, const R& reduction) const {
    using Value = typename R::value_type;
    constexpr int max_tasks = 512;
    if (columns_ == 0) return reduction.empty();
    const std::int64_t leaves = tree::leaf_count(columns_, R::contract::leaf);
    std::int64_t per_task = leaves_per_task_;
    while (tree::leaf_count(leaves, per_task) > max_tasks) per_task *= 2;
    const std::int64_t tasks = tree::leaf_count(leaves, per_task);
    Value partial[max_tasks];
    launch(label_, exec_, tasks, [&](std::int64_t task) {
      const std::int64_t begin = task * per_task;
      partial[task] =
          fold_leaves(reduction, row, columns_, begin, begin + per_task < leaves ? begin + per_task : leaves);
    });
    // A task is an aligned subtree, so the tree over tasks completes the tree over leaves.
    return finish_row(reduction, row, columns_,
                      tree::fold_aligned<Value>(
                          0, tasks, [&](std::int64_t i) { return partial[i]; },
                          [&](const Value& a, const Value& b) { return reduction.join(a, b); }));
  }

  template <class F, class Out, class... Operand>
  void map(std::int64_t row, const F& f, const Out& out, const Operand&... operand) const {
    constexpr std::int64_t line = 64;  // columns: no two threads write to one line of cache, where rows begin with one
    const std::int64_t lines = tree::leaf_count(columns_, line);
    const std::int64_t per_part = line * tree::leaf_count(lines, schedule::Backend<Exec>::workers(exec_));
    launch(label_, exec_, tree::leaf_count(columns_, per_part), [&](std::int64_t part) {
      const std::int64_t begin = part * per_part;
      map_columns(row, begin, begin + per_part < columns_ ? begin + per_part : columns_, false, f, out, operand...);
    });
  }

 private:
  const char* label_;
  const Exec& exec_;
  int leaves_per_task_;
};
#endif

/// Rows in ascending order, `per_task` in one work item.
template <class Body>
struct WholeRows {
  Body body;
  std::int64_t rows, columns, per_task;
  bool past_caches;

  KOKKOS_FUNCTION void operator()(std::int64_t task) const {
    const std::int64_t begin = task * per_task;
    const std::int64_t end = begin + per_task < rows ? begin + per_task : rows;
    for (std::int64_t row = begin; row < end; ++row) body(row, RowOfThread(columns, past_caches));
  }
};

template <class Exec>
struct RowKernels {
  template <class Body>
  static void map(const char* label, const Exec& exec, const tree::RowShape& shape, const schedule::Rows& chosen,
                  const Body& body) {
#if !defined(__CUDACC__)
    if (chosen.in_parts) {
      for (std::int64_t row = 0; row < shape.rows; ++row)
        body(row, RowOfAllThreads<Exec>(label, exec, shape.columns, chosen.leaves_per_task));
      return;
    }
#endif
    const std::int64_t per_task = chosen.by_one_thread && shape.rows > 0 ? shape.rows : 1;
    launch(label, exec, tree::leaf_count(shape.rows, per_task),
           WholeRows<Body>{body, shape.rows, shape.columns, per_task, chosen.past_caches});
  }

  template <class Body>
  static void reduce(const char* label, const Exec& exec, const tree::RowShape& shape, const schedule::Rows& chosen,
                     const Body& body) {
    map(label, exec, shape, chosen, body);
  }
};

}  // namespace invar::backends::host

namespace invar::tree {

#ifdef KOKKOS_ENABLE_OPENMP
template <>
struct RowKernels<Kokkos::OpenMP> : backends::host::RowKernels<Kokkos::OpenMP> {};
#endif
#ifdef KOKKOS_ENABLE_SERIAL
template <>
struct RowKernels<Kokkos::Serial> : backends::host::RowKernels<Kokkos::Serial> {};
#endif
#ifdef KOKKOS_ENABLE_THREADS
template <>
struct RowKernels<Kokkos::Threads> : backends::host::RowKernels<Kokkos::Threads> {};
#endif

}  // namespace invar::tree

#endif
