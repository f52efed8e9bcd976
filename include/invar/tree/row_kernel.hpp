// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The generic Kokkos kernel of all row operations: one team a row, leaves shared by the team's threads.
#ifndef INVAR_TREE_ROW_KERNEL_HPP
#define INVAR_TREE_ROW_KERNEL_HPP

#include <invar/schedule/rows.hpp>
#include <invar/tree/aligned.hpp>

#include <Kokkos_Core.hpp>
#include <concepts>
#include <cstdint>
#include <string>

namespace invar::tree {

/// What a row operation gives to the kernel: the value of one leaf, the join of two neighbouring subtrees, and the
/// value of an empty row. The kernel decides who evaluates which leaf, never in which tree.
template <class R>
concept RowReduction = requires(const R r, typename R::value_type v, std::int64_t i) {
  { R::leaf_size } -> std::convertible_to<std::int64_t>;
  { r.leaf(i, i, i) } -> std::same_as<typename R::value_type>;
  { r.join(v, v) } -> std::same_as<typename R::value_type>;
  { r.empty() } -> std::same_as<typename R::value_type>;
};

/// The team's view of one row: evaluates reductions and loops over columns.
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
    if (columns_ == 0) return reduction.empty();
    const std::int64_t leaves = leaf_count(columns_, R::leaf_size);
    const auto join = [&](const Value& a, const Value& b) { return reduction.join(a, b); };
    const auto leaf = [&](std::int64_t i) {
      const std::int64_t begin = i * R::leaf_size;
      return reduction.leaf(row, begin, begin + R::leaf_size < columns_ ? begin + R::leaf_size : columns_);
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

  /// Calls body(column) once for every column, spread over the team.
  template <class Body>
  KOKKOS_FUNCTION void for_each_column(const Body& body) const {
    if (member_.team_size() == 1) {
      for (std::int64_t column = 0; column < columns_; ++column) body(column);
    } else {
      Kokkos::parallel_for(Kokkos::TeamThreadRange(member_, columns_), body);
    }
  }

  /// Makes what the team has written in this row visible to all of it.
  KOKKOS_FUNCTION void barrier() const { member_.team_barrier(); }

  /// True in one thread of the team.
  KOKKOS_FUNCTION bool is_first() const { return member_.team_rank() == 0; }

 private:
  const Member& member_;
  std::int64_t columns_;
  int leaves_per_task_;
  void* scratch_;
};

/// Alignment of a team's scratch, enough for every value that a row reduces to.
inline constexpr std::size_t scratch_alignment = 16;

/// Launches body(row_index, Row) for every row, asynchronously in exec.
///
/// \param scratch_value  size in bytes of the largest value that the body reduces to
template <class Exec, class Body>
void launch_rows(const char* label, const Exec& exec, std::int64_t rows, std::int64_t columns, std::int64_t leaf_size,
                 std::size_t scratch_value, const schedule::Rows& chosen, const Body& body) {
  if (rows == 0) return;
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  using Member = typename Policy::member_type;
  const std::int64_t leaves = leaf_count(columns, leaf_size);
  const std::int64_t tasks = leaf_count(leaves, chosen.leaves_per_task);
  const int wanted = static_cast<int>(tasks < chosen.team_size ? tasks : chosen.team_size);
  const int team_size = schedule::Backend<Exec>::team_size(exec, wanted);
  const int leaves_per_task = chosen.leaves_per_task;
  const std::size_t scratch_bytes = Row<Member>::max_tasks * scratch_value;
  // A league counts in int; its teams take several rows each where there are more.
  const std::int64_t league = rows < (std::int64_t{1} << 30) ? rows : (std::int64_t{1} << 30);
  Policy policy(exec, static_cast<int>(league), team_size);
  if (team_size > 1) policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(scratch_bytes + scratch_alignment)));
  Kokkos::parallel_for(
      label, policy, KOKKOS_LAMBDA(const Member& member) {
        // Taken once: every request for scratch gets new memory.
        void* const scratch = member.team_size() > 1
                                  ? member.team_scratch(0).get_shmem_aligned(scratch_bytes, scratch_alignment)
                                  : nullptr;
        for (std::int64_t row = member.league_rank(); row < rows; row += league)
          body(row, Row<Member>(member, columns, leaves_per_task, scratch));
      });
}

/// launch_rows for an operation that writes every column: nothing to do without columns, and the schedule follows the
/// shape unless one is given.
template <class Contract, class Exec, class Body>
void launch_map_rows(const char* label, const Exec& exec, std::int64_t rows, std::int64_t columns,
                     std::size_t scratch_value, const schedule::Rows* chosen, const Body& body) {
  if (columns == 0) return;
  if (chosen == nullptr) chosen = &schedule::choose_rows(exec, rows, leaf_count(columns, Contract::leaf));
  launch_rows(label, exec, rows, columns, Contract::leaf, scratch_value, *chosen, body);
}

}  // namespace invar::tree

#endif
