// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The kernels of matmul with a matrix unit's arithmetic: the software model, launched by a schedule.
#ifndef INVAR_TREE_MATRIX_UNIT_KERNELS_HPP
#define INVAR_TREE_MATRIX_UNIT_KERNELS_HPP

#include <invar/error.hpp>
#include <invar/schedule/matrix_unit_matmul.hpp>
#include <invar/tree/aligned.hpp>
#include <invar/tree/matmul_store.hpp>
#include <invar/tree/matrix_unit_matmul.hpp>

#include <Kokkos_Core.hpp>
#include <cstdint>

namespace invar::detail {

/// Throws unless the schedule is one of the backend's table.
template <class Exec>
void require_matrix_unit_schedule(const schedule::Matmul& chosen) {
  for (const schedule::Matmul& entry : schedule::matrix_unit_matmul_table<Exec>)
    if (entry.tile_m == chosen.tile_m && entry.tile_n == chosen.tile_n && entry.block_m == chosen.block_m &&
        entry.kernel == chosen.kernel)
      return;
  throw error("matmul", "schedule", "an entry of schedule::matrix_unit_matmul_table", chosen.name);
}

/// The software model on a backend.
template <class Exec>
struct MatrixUnitModel {
  template <class Contract, class C, class A, class B, class Epilogue>
  static void run(const Exec& exec, const C& c, const A& a, const B& b, const Epilogue& epilogue,
                  const schedule::Matmul& chosen) {
    const std::int64_t m = c.extent(0), n = c.extent(1), k = a.extent(1);
    using Store = MatmulStore<C, Epilogue>;
    const Store store{c, epilogue, k == 0};
    if (chosen.tile_n == 1)
      return launch(exec, m * n, tree::MatrixUnitOutput<Contract, Store, A, B>{store, a, b, n, k});
    if constexpr (schedule::runs_on_host_v<Exec>) {
      using Task = tree::MatrixUnitBlock<Contract, Store, A, B>;
      const std::int64_t tasks_m = tree::leaf_count(m, chosen.block_m);
      launch(exec, tasks_m * tree::leaf_count(n, Task::columns), Task{store, a, b, m, n, k, chosen.block_m, tasks_m});
    }
  }

 private:
  template <class Task>
  static void launch(const Exec& exec, std::int64_t tasks, const Task& task) {
    using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
    Kokkos::parallel_for("Invar::matmul", Policy(exec, 0, tasks), task);
  }
};

/// The kernels on a backend. These run the software model, so that every backend has the contract's bits; a backend
/// that has the unit specialises them.
template <class Exec>
struct MatrixUnitMatmulKernels {
  /// c, a and b have been checked; c is not empty.
  template <class Contract, class C, class A, class B, class Epilogue>
  static void run(const Exec& exec, const C& c, const A& a, const B& b, const Epilogue& epilogue,
                  const schedule::Matmul& chosen, bool /*b_is_constant*/) {
    require_matrix_unit_schedule<Exec>(chosen);
    MatrixUnitModel<Exec>::template run<Contract>(exec, c, a, b, epilogue, chosen);
  }
};

}  // namespace invar::detail

#endif
