// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Products by every matrix unit that a device has, for any operands: from a call to its kernel.
#ifndef INVAR_BACKENDS_CUDA_MATRIX_MMA_HPP
#define INVAR_BACKENDS_CUDA_MATRIX_MMA_HPP

#include <invar/backends/cuda/launch.hpp>
#include <invar/backends/cuda/matmul_join.hpp>
#include <invar/backends/cuda/matrix_call.hpp>
#include <invar/backends/cuda/matrix_mma_device.hpp>
#include <invar/backends/cuda/matrix_mma_group.hpp>
#include <invar/backends/cuda/matrix_mma_kernel.hpp>
#include <invar/backends/cuda/matrix_mma_problem.hpp>
#include <invar/backends/cuda/matrix_mma_schedule.hpp>
#include <invar/backends/cuda/matrix_mma_sync.hpp>
#include <invar/backends/cuda/stream_buffer.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace invar::backends::cuda::gemm {

/// Launches the kernels of a problem.
template <class A, class B>
class MmaLaunch {
 public:
  MmaLaunch(const char* label, const Kokkos::Cuda& exec, const MatrixProblem<A, B>& problem, bool splits_leaves)
      : label_(label), exec_(exec), problem_(problem), splits_leaves_(splits_leaves) {}

  /// False, and nothing is launched, where there are more tiles than a grid can have.
  template <class Tile>
  bool run() const {
    if constexpr (sizeof(B) == 2)
      if (problem_.call.b.k_stride != 1 && problem_.has_vectors_along_n_of_b())
        return blocks<MatrixMma<A, B, Tile, true>>(true);
    return blocks<MatrixMma<A, B, Tile, false>>(problem_.has_vectors_along_k_of_b());
  }

 private:
  static constexpr std::int64_t max_grid_yz = 65535;
  static constexpr std::int64_t max_workspace = std::int64_t{1} << 30;  // beyond, no leaf needs a block of its own

  template <class Kernel>
  bool blocks(bool b_vectors) const {
    const MatrixCall<A, B>& call = problem_.call;
    const std::int64_t m = call.out.m, n = call.out.n;
    // Every group may leave its last tile short.
    const std::int64_t tiles_m = (m + Kernel::rows - 1) / Kernel::rows + problem_.offsets.groups();
    const std::int64_t tiles_n = (n + Kernel::columns - 1) / Kernel::columns;
    if (tiles_m > std::numeric_limits<std::int32_t>::max() / tiles_n) return false;
    const std::int64_t leaves = (call.k + call.leaf - 1) / call.leaf;
    const std::int64_t bytes = leaves * m * n * static_cast<std::int64_t>(sizeof(float));
    const bool splits = splits_leaves_ && problem_.offsets.groups() == 0 && problem_.count == 1 && leaves > 1 &&
                        leaves <= max_grid_yz && bytes <= max_workspace;
    const StreamBuffer chains(exec_, splits ? static_cast<std::size_t>(bytes) : 0);
    for (std::int64_t first = 0; first < problem_.count; first += max_grid_yz) {
      const std::int64_t count = std::min(problem_.count - first, max_grid_yz);
      Kernel kernel{problem_.from(first, count), tiles_m, problem_.has_vectors_along_k_of_a(), b_vectors};
      kernel.problem.call.out.chains = chains.template as<float>();
      const dim3 grid(static_cast<unsigned>(tiles_m * tiles_n), splits ? static_cast<unsigned>(leaves) : 1u,
                      static_cast<unsigned>(count));
      cuda::launch(label_, exec_, {grid, dim3(Kernel::max_threads), Kernel::shared_bytes()}, kernel);
    }
    if (splits) join(chains.template as<float>(), leaves);
    return true;
  }

  void join(float* chains, std::int64_t leaves) const {
    using Join = MatmulJoin<float>;
    MatmulOutput<float> out = problem_.call.out;
    out.chains = chains;
    const std::int64_t join_blocks = (out.m * out.n + Join::max_threads - 1) / Join::max_threads;
    cuda::launch("Invar::matmul::join", exec_, {dim3(static_cast<unsigned>(join_blocks)), dim3(Join::max_threads)},
                 Join{out, leaves});
  }

  const char* label_;
  const Kokkos::Cuda& exec_;
  const MatrixProblem<A, B>& problem_;
  bool splits_leaves_;
};

/// Launches products with a unit's arithmetic, and says whether it could: the device and the program must have the
/// instructions that the schedule asks for. k, and the extents of c, must not be 0.
template <class Unit, class A, class B>
bool launch_problem(const char* label, const Kokkos::Cuda& exec, const MatrixProblem<A, B>& problem,
                    const schedule::MatrixMma& chosen) {
  if (!has_unit<Unit>(exec, chosen.by_warpgroups)) return false;
  const MmaLaunch<A, B> launch(label, exec, problem, chosen.splits_leaves);
  if constexpr (unit_has_warpgroups_v<Unit>) {
    if (chosen.by_warpgroups) {
      if (chosen.rows == 8) return launch.template run<GroupTile<1, 8, 8, 3>>();
      if (chosen.rows == 32) return launch.template run<GroupTile<1, 32, 5, 3>>();
      if (chosen.rows == 64) return launch.template run<GroupTile<2, 64, 4, 2>>();
      return launch.template run<GroupTile<2, 128, 6, 1>>();
    }
  }
  if constexpr (unit_has_warps_v<Unit>) {
    if (chosen.rows == 8) return launch.template run<SyncTile<4, 1, 1, 1, 6, 3>>();
    if (chosen.rows == 32) return launch.template run<SyncTile<4, 1, 1, 4, 4, 3>>();
    return launch.template run<SyncTile<2, 2, 4, 4, 3, 2>>();
  }
  return false;
}

/// One product by a schedule. False, and nothing is done, where the device or the program lacks the unit, or k is 0.
template <class Unit, class A, class B>
bool launch_mma(const Kokkos::Cuda& exec, const MatrixCall<A, B>& call, const schedule::MatrixMma& chosen) {
  if (call.k <= 0 || call.out.m <= 0 || call.out.n <= 0) return false;
  return launch_problem<Unit>("Invar::matmul", exec, MatrixProblem<A, B>{call, 1, {}, {}}, chosen);
}

/// The same by a schedule that the shape chooses.
template <class Unit, class A, class B>
bool launch_mma(const Kokkos::Cuda& exec, const MatrixCall<A, B>& call) {
  const schedule::MatrixMmaShape shape{call.out.m, call.out.n, (call.k + call.leaf - 1) / call.leaf,
                                       call.leaf * static_cast<std::int64_t>(sizeof(A)), 1};
  return launch_mma<Unit>(
      exec, call,
      schedule::choose_matrix_mma(shape, exec.cuda_device_prop().multiProcessorCount, has_unit<Unit>(exec, true)));
}

}  // namespace invar::backends::cuda::gemm

#endif
