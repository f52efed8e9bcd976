// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The generic Kokkos kernel of all row operations: one team a row, leaves shared by the team's threads.
#ifndef INVAR_TREE_ROW_KERNEL_HPP
#define INVAR_TREE_ROW_KERNEL_HPP

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

/// The team's view of one row: evaluates reductions and maps columns.
template <class Member>
class Row {
 public:
  /// Most tasks that a row is cut into, and so the partial results that a team's scratch holds.
  static constexpr int max_tasks = 128;

  /// \param scratch  memory for max_tasks partial values, shared by the team; unused in a team of one
  KOKKOS_FUNCTION Row(const Member& member, std::int64_t columns, int leaves_per_task, void* scratch)
      : member_(member), columns_(columns), leaves_per_task_(leaves_per_task), scratch_(scratch) {}

  KOKKOS_FUNCTION std::int64_t columns() const { return columns_; }

  /// The reduction's value over the row, known to every thread of the team.
  template <RowReduction R>
  KOKKOS_FUNCTION typename R::value_type reduce(std::int64_t row, const R& reduction) const {
    using Value = typename R::value_type;
    using Contract = typename R::contract;
    if (columns_ == 0) return reduction.empty();
    const std::int64_t leaves = leaf_count(columns_, Contract::leaf);
    const auto join = [&](const Value& a, const Value& b) { return reduction.join(a, b); };
    const auto leaf = [&](std::int64_t i) {
      const std::int64_t begin = i * Contract::leaf;
      return reduction.leaf(
          SequentialLeaf<Contract>(row, begin, begin + Contract::leaf < columns_ ? begin + Contract::leaf : columns_));
    };
    if (member_.team_size() == 1) return fold_aligned<Value>(0, leaves, leaf, join);

    std::int64_t per_task = leaves_per_task_;
    while (leaf_count(leaves, per_task) > max_tasks) per_task *= 2;
    const std::int64_t tasks = leaf_count(leaves, per_task);
    Value* const partial = static_cast<Value*>(scratch_);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member_, static_cast<int>(tasks)), [&](int task) {
      const std::int64_t begin = task * per_task;
      partial[task] = fold_aligned<Value>(begin, begin + per_task < leaves ? begin + per_task : leaves, leaf, join);
    });
    member_.team_barrier();
    // A task is an aligned subtree, so the tree over tasks completes the tree over leaves.
    const Value value = fold_aligned<Value>(
        0, tasks, [&](std::int64_t i) { return partial[i]; }, join);
    member_.team_barrier();
    return value;
  }

  /// Stores f(operands...) in every column of the outputs, spread over the team. An output may be an operand's view.
  template <class F, class Out, class... Operand>
  KOKKOS_FUNCTION void map(std::int64_t row, const F& f, const Out& out, const Operand&... operand) const {
    const auto column = [&](std::int64_t j) { out.store(row, j, f(operand(row, j)...)); };
    if (member_.team_size() == 1) {
      for (std::int64_t j = 0; j < columns_; ++j) column(j);
    } else {
      Kokkos::parallel_for(Kokkos::TeamThreadRange(member_, columns_), column);
    }
  }

  /// The operand's part of the row, to be handed to reductions and maps. A GPU may keep it in registers; here it stays
  /// where it is.
  template <class Operand>
  KOKKOS_FUNCTION const Operand& hold(std::int64_t /*row*/, const Operand& operand) const {
    return operand;
  }

  /// True in one thread of the team.
  KOKKOS_FUNCTION bool is_first() const { return member_.team_rank() == 0; }

 private:
  const Member& member_;
  std::int64_t columns_;
  int leaves_per_task_;
  void* scratch_;
};

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
    using Policy = Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>>;
    using Member = typename Policy::member_type;
    constexpr std::size_t alignment = 16;  // of a team's scratch, enough for every value that a row reduces to
    const std::int64_t leaves = leaf_count(shape.columns, shape.leaf);
    const std::int64_t tasks = leaf_count(leaves, chosen.leaves_per_task);
    const int wanted = static_cast<int>(tasks < chosen.team_size ? tasks : chosen.team_size);
    const int team_size = schedule::Backend<Exec>::team_size(exec, wanted);
    const int leaves_per_task = chosen.leaves_per_task;
    const std::int64_t rows = shape.rows, columns = shape.columns;
    const std::size_t scratch_bytes = Row<Member>::max_tasks * Body::value_bytes;
    // A league counts in int; its teams take several rows each where there are more.
    const std::int64_t league = rows < (std::int64_t{1} << 30) ? rows : (std::int64_t{1} << 30);
    Policy policy(exec, static_cast<int>(league), team_size);
    if (team_size > 1) policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(scratch_bytes + alignment)));
    Kokkos::parallel_for(
        label, policy, KOKKOS_LAMBDA(const Member& member) {
          // Taken once: every request for scratch gets new memory.
          void* const scratch =
              member.team_size() > 1 ? member.team_scratch(0).get_shmem_aligned(scratch_bytes, alignment) : nullptr;
          for (std::int64_t row = member.league_rank(); row < rows; row += league)
            body(row, Row<Member>(member, columns, leaves_per_task, scratch));
        });
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
