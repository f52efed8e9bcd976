// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// matmul on CUDA: from a call to its kernel.
#ifndef INVAR_BACKENDS_CUDA_MATMUL_HPP
#define INVAR_BACKENDS_CUDA_MATMUL_HPP

#include <invar/backends/cuda/launch.hpp>
#include <invar/backends/cuda/matmul_join.hpp>
#include <invar/backends/cuda/matmul_leaves.hpp>
#include <invar/backends/cuda/matmul_mma.hpp>
#include <invar/backends/cuda/matmul_operands.hpp>
#include <invar/backends/cuda/matmul_panel.hpp>
#include <invar/backends/cuda/matmul_schedule.hpp>
#include <invar/backends/cuda/matmul_stream.hpp>
#include <invar/backends/cuda/matmul_tile.hpp>
#include <invar/backends/cuda/stream_buffer.hpp>
#include <invar/op/matmul.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

namespace invar::backends::cuda::gemm {

/// The shapes of the tiles. Operands that are widened on their way are held in registers, so that fewer are left for
/// the outputs.
template <class A, class B>
struct MatmulTiles {
  static constexpr bool widens = sizeof(A) < 4 || sizeof(B) < 4;
  using Small = TileShape<2, 2, 8, 8, widens ? 2 : 3>;
  using Large = std::conditional_t<widens, TileShape<4, 2, 8, 8, 1>, TileShape<2, 2, 16, 8, 2>>;
};
/// Symbols have small ones, for the compiler's sake.
template <num::Symbolic A, num::Symbolic B>
struct MatmulTiles<A, B> {
  using Small = TileShape<2, 4, 4, 2, 1>;
  using Large = TileShape<4, 4, 4, 2, 1>;
};

/// A call on operands of types A and B, whatever their views were.
template <class A, class B>
struct MatmulCall {
  using Acc = num::accumulator_t<A>;

  MatmulInput<A> a;
  MatmulInput<B> b;
  MatmulOutput<Acc> out;
  std::int64_t k;
  int leaf;

  void run(const Kokkos::Cuda& exec, const schedule::Matmul& chosen) const {
    if (k == 0) return join(exec, out, 0);
    const std::int64_t leaves = (k + leaf - 1) / leaf;
    const std::int64_t bytes = leaves * out.m * out.n * static_cast<std::int64_t>(sizeof(Acc));
    if (!chosen.splits_leaves || leaves == 1 || leaves > max_grid_y || bytes > max_workspace)
      return launch(exec, chosen, out, 1);
    const StreamBuffer chains(exec, static_cast<std::size_t>(bytes));
    MatmulOutput<Acc> split = out;
    split.chains = chains.template as<Acc>();
    launch(exec, chosen, split, leaves);
    join(exec, split, leaves);
  }

 private:
  static constexpr std::int64_t max_grid_y = 65535;
  static constexpr std::int64_t max_workspace = std::int64_t{1} << 30;  // beyond, no leaf needs a block of its own

  void launch(const Kokkos::Cuda& exec, const schedule::Matmul& chosen, const MatmulOutput<Acc>& to,
              std::int64_t leaf_blocks) const {
    switch (chosen.block_m) {
      // With three stages two blocks fit a multiprocessor, so that the next begins before the last one ends.
      case 1: return share_leaves<MatmulLeaves<A, B, 1, 3, 2>>(exec, to);
      case 4:
        return leaf_blocks == 1 ? share_leaves<MatmulLeaves<A, B, 4, 4, 1>>(exec, to)
                                : stream<StreamShape<1, 4>>(exec, to, leaf_blocks);
      case 8: return stream<StreamShape<2, 4>>(exec, to, leaf_blocks);
      case 16: return stream<StreamShape<4, 4>>(exec, to, leaf_blocks);
    }
    if constexpr (std::is_same_v<A, float> && std::is_same_v<B, float>)
      if (panel(exec, chosen.block_m, to, leaf_blocks)) return;
    if (chosen.block_m == 32) return stream<StreamShape<4, 8>>(exec, to, leaf_blocks);
    if constexpr (std::is_same_v<Acc, double>) {
      mma(exec, to, leaf_blocks);
    } else {
      using Small = typename MatmulTiles<A, B>::Small;
      using Large = typename MatmulTiles<A, B>::Large;
      // The large tile does not fit every device.
      if (chosen.block_m == 128 &&
          MatmulTile<A, B, Large>::shared_bytes() <= exec.cuda_device_prop().sharedMemPerBlockOptin)
        return tile<Large>(exec, to, leaf_blocks);
      tile<Small>(exec, to, leaf_blocks);
    }
  }

  template <class Kernel>
  void share_leaves(const Kokkos::Cuda& exec, const MatmulOutput<Acc>& to) const {
    const std::int64_t leaves = (k + leaf - 1) / leaf;
    const int warps = Kernel::warps_for(leaves, exec.cuda_device_prop().sharedMemPerBlockOptin);
    const std::int64_t tiles = (to.m + Kernel::M - 1) / Kernel::M * ((to.n + Kernel::N - 1) / Kernel::N);
    backends::cuda::launch(
        "Invar::matmul", exec,
        {dim3(static_cast<unsigned>(tiles)), dim3(static_cast<unsigned>(warps) * 32), Kernel::shared_bytes(warps)},
        Kernel{a, columns<typename Kernel::Columns>(), to, k, leaves, leaf, warps});
  }

  template <class Columns>
  Columns columns() const {
    return {b, out.n, b.is_vector_along_k(leaf), b.is_vector_along_rows()};
  }

  template <class Shape>
  void stream(const Kokkos::Cuda& exec, const MatmulOutput<Acc>& to, std::int64_t leaf_blocks) const {
    using Kernel = MatmulStream<A, B, Shape>;
    launch_blocks(exec, Kernel{a, columns<typename Kernel::Columns>(), to, k, leaf}, Shape::M, Kernel::N, leaf_blocks);
  }

  /// Launches the kernel made for the operands' layout, if there is one that fits the device. For the largest tile it
  /// has another shape in each layout, the fastest there on an H200; where neither serves, smaller tiles may.
  bool panel(const Kokkos::Cuda& exec, int rows, const MatmulOutput<Acc>& to, std::int64_t leaf_blocks) const {
    using Rows32 = TileShape<1, 4, 8, 4, 5>;
    using Rows64 = TileShape<2, 2, 8, 8, 3>;
    if (rows == 32)
      return any_of<MatmulPanel<Rows32, false, false>, MatmulPanel<Rows32, true, false>>(exec, to, leaf_blocks);
    if (rows == 128 &&
        any_of<MatmulPanel<TileShape<4, 2, 8, 8, 2>, false, false>, MatmulPanel<TileShape<2, 2, 16, 8, 2>, true, true>>(
            exec, to, leaf_blocks))
      return true;
    return any_of<MatmulPanel<Rows64, false, false>, MatmulPanel<Rows64, true, false>>(exec, to, leaf_blocks);
  }
  /// Launches the first kernel that suits, and says whether there was one.
  template <class... Kernels>
  bool any_of(const Kokkos::Cuda& exec, const MatmulOutput<Acc>& to, std::int64_t leaf_blocks) const {
    const auto launch_if_suited = [&]<class Kernel>(std::type_identity<Kernel>) {
      if (!Kernel::suits(a, b, leaf) || Kernel::shared_bytes() > exec.cuda_device_prop().sharedMemPerBlockOptin)
        return false;
      launch_blocks(exec, Kernel{a, b, to, k, leaf}, Kernel::M, Kernel::N, leaf_blocks);
      return true;
    };
    return (launch_if_suited(std::type_identity<Kernels>{}) || ...);
  }

  template <class Shape>
  void tile(const Kokkos::Cuda& exec, const MatmulOutput<Acc>& to, std::int64_t leaf_blocks) const {
    using Kernel = MatmulTile<A, B, Shape>;
    launch_blocks(exec, Kernel{a, b, to, k, leaf, a.is_vector_along_rows(), b.is_vector_along_rows()}, Shape::M,
                  Shape::N, leaf_blocks);
  }

  void mma(const Kokkos::Cuda& exec, const MatmulOutput<Acc>& to, std::int64_t leaf_blocks) const {
    using Shape = MmaShape<2, 2, 2, 4, 3, 2>;
    using Kernel = MatmulMma<Shape>;
    launch_blocks(exec, Kernel{a, b, to, k, leaf, a.is_vector_along_k(leaf), b.is_vector_along_k(leaf)}, Shape::M,
                  Shape::N, leaf_blocks);
  }

  template <class Kernel>
  void launch_blocks(const Kokkos::Cuda& exec, const Kernel& kernel, std::int64_t tile_m, std::int64_t tile_n,
                     std::int64_t leaf_blocks) const {
    const std::int64_t tiles = (out.m + tile_m - 1) / tile_m * ((out.n + tile_n - 1) / tile_n);
    const dim3 grid(static_cast<unsigned>(tiles), static_cast<unsigned>(leaf_blocks));
    backends::cuda::launch("Invar::matmul", exec, {grid, dim3(Kernel::max_threads), Kernel::shared_bytes()}, kernel);
  }

  static void join(const Kokkos::Cuda& exec, const MatmulOutput<Acc>& from, std::int64_t leaves) {
    using Kernel = MatmulJoin<Acc>;
    const std::int64_t blocks = (from.m * from.n + Kernel::max_threads - 1) / Kernel::max_threads;
    backends::cuda::launch("Invar::matmul::join", exec,
                           {dim3(static_cast<unsigned>(blocks)), dim3(Kernel::max_threads)}, Kernel{from, leaves});
  }
};

}  // namespace invar::backends::cuda::gemm

namespace invar::detail {

template <>
struct MatmulKernels<Kokkos::Cuda> {
  /// c, a and b have been checked; c is not empty.
  template <class Contract, class C, class A, class B, class Epilogue>
  static void run(const Kokkos::Cuda& exec, const C& c, const A& a, const B& b, const Epilogue& epilogue,
                  const schedule::Matmul& chosen) {
    if (!is_known(chosen)) throw error("matmul", "schedule", "an entry of schedule::matmul_table", chosen.name);
    using namespace backends::cuda::gemm;
    using ElementA = typename A::non_const_value_type;
    using ElementB = typename B::non_const_value_type;
    using Call = MatmulCall<ElementA, ElementB>;
    const Call call{rows_of(a), columns_of(b), output_of<typename Call::Acc>(c, epilogue),
                    static_cast<std::int64_t>(a.extent(1)), Contract::leaf};
    call.run(exec, chosen);
  }

 private:
  static bool is_known(const schedule::Matmul& chosen) {
    for (const schedule::Matmul& entry : schedule::MatmulSchedules<Kokkos::Cuda>::table)
      if (entry.tile_m == chosen.tile_m && entry.tile_n == chosen.tile_n && entry.block_m == chosen.block_m &&
          entry.splits_leaves == chosen.splits_leaves)
        return true;
    return false;
  }
};

}  // namespace invar::detail

#endif
