// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The general kernel of matrix units: any strides, addresses, leaves and extents.
#ifndef INVAR_BACKENDS_CUDA_MATRIX_MMA_KERNEL_HPP
#define INVAR_BACKENDS_CUDA_MATRIX_MMA_KERNEL_HPP

#include <invar/backends/cuda/matmul_instructions.hpp>
#include <invar/backends/cuda/matmul_outputs.hpp>
#include <invar/backends/cuda/matrix_mma_panel.hpp>
#include <invar/backends/cuda/matrix_mma_problem.hpp>
#include <invar/backends/cuda/matrix_unit.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>

namespace invar::backends::cuda::gemm {

/// blockIdx.x is the tile; with chains, blockIdx.y is the leaf; blockIdx.z is the matrix. A panel that K or a leaf's
/// end leaves short is filled up with zeros, which leave a chain as it is.
///
/// \tparam Tile    SyncTile or GroupTile
/// \tparam AlongN  b allows copies of 16 bytes along n
template <class A, class B, class Tile, bool AlongN>
struct MatrixMma {
  static constexpr int max_threads = Tile::threads, min_blocks = Tile::min_blocks;
  static constexpr int rows = Tile::rows, columns = Tile::columns;
  using Products = typename Tile::template Products<A, B, AlongN>;
  using PanelA = typename Products::PanelA;
  using PanelB = typename Products::PanelB;
  static constexpr int depth = panel_depth_v<A>;
  static_assert(sizeof(A) == sizeof(B));

  MatrixProblem<A, B> problem;
  std::int64_t tiles_m;
  bool a_vectors, b_vectors;

  static constexpr std::size_t shared_bytes() {
    // Atoms of the swizzle start on 1024 bytes.
    constexpr int ring = Tile::stages * stage_bytes, outputs = rows * output_line * static_cast<int>(sizeof(float));
    return 1024 + (ring > outputs ? ring : outputs);
  }

  __device__ void operator()() const {
    if constexpr (Products::are_there())
      compute();
    else
      __trap();
  }

 private:
  static constexpr int stage_bytes = PanelA::bytes + PanelB::bytes;
  static constexpr int output_line = columns + 4;  // apart in the banks for lanes that hold neighbours in a column

  /// How many the block multiplies; each leaf begins with a new one.
  __device__ int panels() const {
    const std::int64_t leaf = problem.call.leaf, first = blockIdx.y * leaf;
    const std::int64_t k = problem.call.k - first < leaf || gridDim.y == 1 ? problem.call.k - first : leaf;
    return static_cast<int>(k / leaf * ((leaf + depth - 1) / depth) + (k % leaf + depth - 1) / depth);
  }

  __device__ void compute() const {
    extern __shared__ __align__(128) unsigned char mma_shared[];
    unsigned char* const ring =
        mma_shared + (-static_cast<std::uint32_t>(__cvta_generic_to_shared(mma_shared)) & 1023u);
    const MatrixCall<A, B>& call = problem.call;
    const TilePosition tile = TilePosition::of<rows, columns>(blockIdx.x, tiles_m * rows, call.out.n);
    GroupOffsets::Rows own{tile.row, call.out.m, static_cast<int>(blockIdx.z)};
    if (problem.offsets.groups() > 0) {
      own = problem.offsets.find<rows>(tile.row / rows, call.out.m);
      if (own.begin >= own.end) return;
    }
    MatmulInput<A> a = call.a;
    MatmulInput<B> b = call.b;
    if (problem.offsets.groups() == 0) a.data += own.group * problem.step.a;
    b.data += own.group * problem.step.b;
    const PanelA panel_a(a, own.begin, own.end, a_vectors);
    const PanelB panel_b(b, tile.column, call.out.n, b_vectors);

    LeafWalk next(call.k, call.leaf, blockIdx.y, gridDim.y);
    int target = 0;
    const auto fetch = [&] {
      if (!next.done()) {
        const Step step = next.step(depth);
        unsigned char* const stage = ring + target * stage_bytes;
        panel_b.fetch(stage, next.at(), step.depth);
        panel_a.fetch(stage + PanelB::bytes, next.at(), step.depth);
        next.advance(step);
        target = target + 1 == Tile::stages ? 0 : target + 1;
      }
      commit_copies();
    };
    const int in_leaf = (call.leaf + depth - 1) / depth;
    int left = panels(), left_in_leaf = in_leaf;
#pragma unroll 1
    for (int i = 0; i + 1 < Tile::stages; ++i) fetch();

    Products products;
    int current = 0;
    bool opens_leaf = true;
#pragma unroll 1
    while (left > 0) {
      wait_copies<Tile::stages - 2>();
      if constexpr (Tile::by_warpgroups) fence_shared_stores();
      __syncthreads();
      const unsigned char* const stage = ring + current * stage_bytes;
      products.start(stage + PanelB::bytes, stage, opens_leaf);
      fetch();  // to the stage that all warps have left
      products.finish(stage + PanelB::bytes, stage, opens_leaf);
      current = current + 1 == Tile::stages ? 0 : current + 1;
      --left_in_leaf;
      opens_leaf = --left == 0 || left_in_leaf == 0;
      if (!opens_leaf) continue;
      products.end_leaf();
      left_in_leaf = in_leaf;
    }
    store(products, reinterpret_cast<float*>(ring), own, tile.column);
  }

  /// By way of shared memory, along the memory of c.
  __device__ void store(const Products& products, float* totals, const GroupOffsets::Rows& own,
                        std::int64_t column0) const {
    wait_copies<0>();
    __syncthreads();
    products.deposit(totals, output_line);
    __syncthreads();
    const MatmulOutput<float> out = problem.output(problem.offsets.groups() > 0 ? 0 : own.group);
    const int last_row = own.end - own.begin < rows ? static_cast<int>(own.end - own.begin) : rows;
    const int last_column = out.n - column0 < columns ? static_cast<int>(out.n - column0) : columns;
    const bool by_columns = out.chains == nullptr && out.row_stride == 1 && out.column_stride != 1;
#pragma unroll 2
    for (int e = static_cast<int>(threadIdx.x); e < rows * columns; e += max_threads) {
      const int i = by_columns ? e % rows : e / columns, j = by_columns ? e / rows : e % columns;
      // A chain that one addition has joined with −0 is the chain.
      if (i < last_row && j < last_column)
        out.store(blockIdx.y, own.begin + i, column0 + j, totals[i * output_line + j]);
    }
  }
};

}  // namespace invar::backends::cuda::gemm

#endif
