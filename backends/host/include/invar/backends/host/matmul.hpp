// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Matrix products on hosts.
#ifndef INVAR_BACKENDS_HOST_MATMUL_HPP
#define INVAR_BACKENDS_HOST_MATMUL_HPP

#include <invar/backends/host/panels.hpp>
#include <invar/backends/host/store_sums.hpp>
#include <invar/error.hpp>
#include <invar/op/matmul.hpp>
#include <invar/schedule/matmul.hpp>
#include <invar/tree/matmul_store.hpp>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace invar::backends::host {

/// How a product is cut: into tasks of so many rows by so many panels, each over the whole of k, which it walks in
/// stretches.
struct MatmulPlan {
  std::int64_t row_blocks, panel_groups;  ///< tasks; rows and panels are divided evenly
  std::int64_t most_rows, most_panels;    ///< of a task
  std::int64_t panels_at_once;            ///< that all rows meet before the next
  std::int64_t copied_panels;             ///< those of them that are copied: all or none
  int tile_rows;
  int stretch;  ///< of k
};

/// One product.
template <class Contract, class Store, class A, class Panels>
struct MatmulTask {
  using T = num::accumulator_t<A>;

  Store store;
  Strided<A> a;
  Panels b;
  std::int64_t m, panels, k;
  MatmulPlan plan;

  std::int64_t sum_count() const { return plan.most_rows * plan.most_panels * panel_columns; }
  bool has_chains() const { return plan.stretch % Contract::leaf != 0; }
  /// Elements of T: rows of a, sums, chains, panels of b.
  std::int64_t scratch() const {
    return plan.most_rows * a_stride + sum_count() * (has_chains() ? 2 : 1) +
           plan.copied_panels * panel_columns * plan.stretch;
  }

  template <class Member>
  void operator()(const Member& member) const {
    // Neighbouring tasks share panels of b, so that a thread's tasks reuse what its cache holds.
    const std::int64_t block = member.league_rank() % plan.row_blocks, group = member.league_rank() / plan.row_blocks;
    const std::int64_t row0 = m * block / plan.row_blocks, row1 = m * (block + 1) / plan.row_blocks;
    const std::int64_t panel0 = panels * group / plan.panel_groups, panel1 = panels * (group + 1) / plan.panel_groups;
    const int rows = static_cast<int>(row1 - row0);
    const std::int64_t width = (panel1 - panel0) * panel_columns;

    T* const copied_a =
        static_cast<T*>(member.team_scratch(1).get_shmem_aligned(static_cast<std::size_t>(scratch()) * sizeof(T), 64));
    T* const total = copied_a + plan.most_rows * a_stride;
    T* const chain = has_chains() ? total + sum_count() : total;
    T* const scratch_b = chain + sum_count();

    std::int64_t k1 = 0;
    for (std::int64_t k0 = 0; k0 < k; k0 = k1) {
      const std::int64_t leaf_end = k0 - k0 % Contract::leaf + Contract::leaf;
      k1 = std::min({k, leaf_end, k0 - k0 % plan.stretch + plan.stretch});
      const int depth = static_cast<int>(k1 - k0);
      copy_elements(copied_a, a_stride, a, row0, rows, k0, depth);
      const Sums<T> sums{total, chain, width, k0 % Contract::leaf == 0, k1 == leaf_end || k1 == k, k0 < Contract::leaf};
      const auto product = [&](const auto& stretch, std::int64_t panel, int count) {
        Sums<T> part = sums;
        part.total += (panel - panel0) * panel_columns;
        part.chain += (panel - panel0) * panel_columns;
        advance(part, rows, plan.tile_rows, copied_a, stretch, count);
      };
      b.each(panel0, panel1, plan.panels_at_once, k0, depth, scratch_b, product);
    }
    store_sums(store, total, width, row0, rows, panel0 * panel_columns);
  }
};

/// The plan of a schedule. Every worker gets as many tasks as the others, as far as the shape allows.
///
/// \param tile_rows  of the register tiles
/// \param copied     panels of b that are copied at a time; 0 where b is read where it lies
inline MatmulPlan plan_matmul(const schedule::Matmul& chosen, std::int64_t m, std::int64_t panels, std::int64_t workers,
                              int tile_rows, int stretch, std::int64_t copied) {
  const auto parts = [](std::int64_t whole, std::int64_t part) { return (whole + part - 1) / part; };
  MatmulPlan plan{};
  plan.row_blocks = parts(m, chosen.block_m);
  plan.panel_groups = std::min(panels, parts(parts(panels, chosen.tile_n / panel_columns), workers) * workers);
  if (plan.panel_groups < workers)
    plan.row_blocks = std::max(plan.row_blocks, std::min(parts(m, tile_rows), parts(workers, plan.panel_groups)));
  plan.most_rows = parts(m, plan.row_blocks);
  plan.most_panels = parts(panels, plan.panel_groups);
  // Where a panel meets several tiles of rows, they follow each other, so that it stays in a cache meanwhile.
  const std::int64_t at_once = copied != 0 ? copied : plan.most_rows <= tile_rows ? plan.most_panels : 1;
  plan.panels_at_once = std::min(plan.most_panels, at_once);
  plan.copied_panels = copied != 0 ? plan.panels_at_once : 0;
  plan.tile_rows = tile_rows;
  plan.stretch = stretch;
  return plan;
}

/// The kernels of matmul on a host.
template <class Exec>
struct MatmulKernels {
  /// c, a and b have been checked; c is not empty.
  template <class Contract, class C, class A, class B, class Epilogue>
  static void run(const Exec& exec, const C& c, const A& a, const B& b, const Epilogue& epilogue,
                  const schedule::Matmul& chosen) {
    using E = typename B::non_const_value_type;
    require_known(chosen);
    const bool few = chosen.block_m <= tile_rows<A>(chosen), in_place = chosen.kernel == 1 && b.stride(1) == 1;
    // For few rows copies of b stay in the first-level cache. Where columns are contiguous they are read to their ends.
    schedule::Matmul schedule = chosen;
    if (few && b.stride(0) == 1 && !in_place) schedule.tile_n = panel_columns;
    const int stretch = in_place ? 32 : few ? 128 : most_depth;
    launch<Contract>(exec, c, a, ViewPanels<E>{strided(b), static_cast<std::int64_t>(b.extent(1)), in_place}, epilogue,
                     schedule, stretch, 1);
  }

  /// The same for a packed b.
  template <class Contract, class C, class A, class T, class Memory, class Epilogue>
  static void run(const Exec& exec, const C& c, const A& a, const PackedMatrix<T, Memory>& b, const Epilogue& epilogue,
                  const schedule::Matmul& chosen) {
    require_known(chosen);
    launch<Contract>(exec, c, a, PackedPanels<T, Memory>{b}, epilogue, chosen, static_cast<int>(b.block_k), 0);
  }

 private:
  static void require_known(const schedule::Matmul& chosen) {
    if (!schedule::is_in_table<Exec>(chosen))
      throw error("matmul", "schedule", "an entry of schedule::matmul_table", chosen.name);
  }
  template <class A>
  static int tile_rows(const schedule::Matmul& chosen) {
    return std::min(chosen.tile_m, TileShape<num::accumulator_t<typename A::non_const_value_type>>::max_rows);
  }

  template <class Contract, class C, class A, class Panels, class Epilogue>
  static void launch(const Exec& exec, const C& c, const A& a, const Panels& b, const Epilogue& epilogue,
                     const schedule::Matmul& chosen, int stretch, std::int64_t copied) {
    using Store = invar::detail::MatmulStore<C, Epilogue>;
    using Task = MatmulTask<Contract, Store, typename A::non_const_value_type, Panels>;
    const std::int64_t m = c.extent(0), n = c.extent(1), k = a.extent(1);
    const std::int64_t panels = (n + panel_columns - 1) / panel_columns;
    const MatmulPlan plan =
        plan_matmul(chosen, m, panels, schedule::Backend<Exec>::workers(exec), tile_rows<A>(chosen), stretch, copied);
    const Task task{Store{c, epilogue, k == 0}, strided(a), b, m, panels, k, plan};
    const auto bytes = static_cast<std::size_t>(task.scratch()) * sizeof(typename Task::T);
    const auto tasks = static_cast<int>(plan.row_blocks * plan.panel_groups);
    Kokkos::parallel_for("Invar::matmul",
                         Kokkos::TeamPolicy<Exec>(exec, tasks, 1).set_scratch_size(1, Kokkos::PerTeam(bytes + 64)),
                         task);
  }
};

}  // namespace invar::backends::host

namespace invar::detail {

#ifdef KOKKOS_ENABLE_OPENMP
template <>
struct MatmulKernels<Kokkos::OpenMP> : backends::host::MatmulKernels<Kokkos::OpenMP> {};
#endif
#ifdef KOKKOS_ENABLE_SERIAL
template <>
struct MatmulKernels<Kokkos::Serial> : backends::host::MatmulKernels<Kokkos::Serial> {};
#endif
#ifdef KOKKOS_ENABLE_THREADS
template <>
struct MatmulKernels<Kokkos::Threads> : backends::host::MatmulKernels<Kokkos::Threads> {};
#endif

}  // namespace invar::detail

#endif
