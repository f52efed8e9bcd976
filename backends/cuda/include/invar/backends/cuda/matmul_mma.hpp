// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The CUDA kernel of matmul on the matrix unit for double, whose instruction is a chain of fma in ascending k from its
/// accumulator: the contract's own arithmetic.
#ifndef INVAR_BACKENDS_CUDA_MATMUL_MMA_HPP
#define INVAR_BACKENDS_CUDA_MATMUL_MMA_HPP

#include <invar/backends/cuda/matmul_copy.hpp>
#include <invar/backends/cuda/matmul_operands.hpp>
#include <invar/backends/cuda/matmul_tile.hpp>

#include <cstdint>

namespace invar::backends::cuda::gemm {

/// The shape of a tile: WarpsM × WarpsN warps of RM × RN instructions of 16 × 8 outputs each.
template <int WarpsM_, int WarpsN_, int RM_, int RN_, int Stages_, int MinBlocks_>
struct MmaShape {
  static constexpr int WarpsM = WarpsM_, WarpsN = WarpsN_, RM = RM_, RN = RN_;
  static constexpr int Stages = Stages_;  ///< that hold k; all but one are on their way
  static constexpr int MinBlocks = MinBlocks_;
  static constexpr int M = WarpsM * RM * 16, N = WarpsN * RN * 8;
  static constexpr int threads = WarpsM * WarpsN * 32;
};

/// The kernel; blocks are numbered as in MatmulTile.
template <class Shape>
struct MatmulMma {
  static constexpr int max_threads = Shape::threads;
  static constexpr int min_blocks = Shape::MinBlocks;

  MatmulInput<double> a;
  MatmulInput<double> b;
  MatmulOutput<double> out;
  std::int64_t k;
  int leaf;
  bool vector_a, vector_b;

  static std::size_t shared_bytes() { return (stages * stage + M * N) * sizeof(double); }

  __device__ void operator()() const {
    extern __shared__ __align__(16) unsigned char matmul_shared[];
    double* const ring = reinterpret_cast<double*>(matmul_shared);
    double* const totals = ring + stages * stage;
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    const int row = warp / Shape::WarpsN * RM * 16, column = warp % Shape::WarpsN * RN * 8;

    const auto tile = TilePosition::of<M, N>(blockIdx.x, out.m, out.n);
    LeafWalk next(k, leaf, blockIdx.y, gridDim.y);
    TileLoader<double, M, Depth, max_threads, pitch, 1> load_a(a, tile.row, out.m, next.at(), vector_a);
    TileLoader<double, N, Depth, max_threads, pitch, 1> load_b(b, tile.column, out.n, next.at(), vector_b);

    double chain[RM][RN][4];
    clear(chain);
    LeafWalk now = next;
    const auto fetch = [&](double* to) {
      if (!next.done()) {
        const Step step = next.step(Depth);
        load_a.fetch(to, step.depth);
        load_b.fetch(to + M * pitch, step.depth);
        next.advance(step);
      }
      commit_copies();
    };
#pragma unroll 1
    for (int s = 0; s + 1 < stages; ++s) fetch(ring + s * stage);
    double* current = ring;
    double* target = ring + (stages - 1) * stage;
    bool is_first = true;
#pragma unroll 1
    while (!now.done()) {
      wait_copies<stages - 2>();
      __syncthreads();
      fetch(target);
      const Step step = now.step(Depth);
      now.advance(step);
      advance(chain, current + row * pitch, current + (M + column) * pitch, lane, step.depth);
      if (step.ends_leaf) {
        fold(totals + threadIdx.x * 2, chain, is_first);
        is_first = false;
        clear(chain);
      }
      target = current;
      current = current == ring + (stages - 1) * stage ? ring : current + stage;
    }
    store(totals + threadIdx.x * 2, tile.row + row + lane / 4, tile.column + column + lane % 4 * 2);
  }

 private:
  static constexpr int RM = Shape::RM, RN = Shape::RN, M = Shape::M, N = Shape::N;
  static constexpr int Depth = 16, stages = Shape::Stages;
  static constexpr int pitch = Depth + 4;  // 4 rows by 4 positions of k meet no bank twice
  static constexpr int stage = (M + N) * pitch;
  using Chains = double[RM][RN][4];

  static __device__ void clear(Chains& chain) {
#pragma unroll
    for (int i = 0; i < RM; ++i)
#pragma unroll
      for (int j = 0; j < RN; ++j)
#pragma unroll
        for (int v = 0; v < 4; ++v) chain[i][j][v] = 0;
  }

  /// Continues the chains over the first `depth` positions of a stage: all at once, or by fma.
  static __device__ void advance(Chains& chain, const double* tile_a, const double* tile_b, int lane, int depth) {
    if (depth == Depth) {
      multiply(chain, tile_a + lane / 4 * pitch + lane % 4, tile_b + lane / 4 * pitch + lane % 4);
      return;
    }
#pragma unroll 1
    for (int p = 0; p < depth; ++p)
#pragma unroll
      for (int i = 0; i < RM; ++i)
#pragma unroll
        for (int j = 0; j < RN; ++j)
#pragma unroll
          for (int v = 0; v < 4; ++v)
            chain[i][j][v] = num::fma(tile_a[(i * 16 + v / 2 * 8 + lane / 4) * pitch + p],
                                      tile_b[(j * 8 + lane % 4 * 2 + v % 2) * pitch + p], chain[i][j][v]);
  }

  static __device__ void multiply(Chains& chain, const double* lane_a, const double* lane_b) {
    double y[RN][4];
#pragma unroll
    for (int j = 0; j < RN; ++j)
#pragma unroll
      for (int p = 0; p < 4; ++p) y[j][p] = lane_b[j * 8 * pitch + p * 4];
#pragma unroll
    for (int i = 0; i < RM; ++i) {
      double x[8];
#pragma unroll
      for (int p = 0; p < 8; ++p) x[p] = lane_a[(i * 16 + p % 2 * 8) * pitch + p / 2 * 4];
#pragma unroll
      for (int j = 0; j < RN; ++j) mma_16x8x16(chain[i][j], x, y[j]);
    }
  }

  /// Adds the leaf to the thread's totals, which it alone touches.
  static __device__ void fold(double* total, const Chains& chain, bool first) {
    using Pair = Pack<double, 2>;
#pragma unroll
    for (int i = 0; i < RM; ++i)
#pragma unroll
      for (int j = 0; j < RN; ++j)
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          Pair& sum = *reinterpret_cast<Pair*>(total + ((i * RN + j) * 2 + h) * max_threads * 2);
          Pair value{{chain[i][j][2 * h], chain[i][j][2 * h + 1]}};
          if (!first) {  // −0 + chain is the chain
            const Pair before = sum;
            value = Pair{{num::add(before.v[0], value.v[0]), num::add(before.v[1], value.v[1])}};
          }
          sum = value;
        }
  }

  /// \param row, column  of the thread's first output
  __device__ void store(const double* total, std::int64_t row, std::int64_t column) const {
    using Pair = Pack<double, 2>;
#pragma unroll 2
    for (int q = 0; q < RM * RN * 2; ++q) {
      const std::int64_t i = row + (q / 2 / RN * 2 + q % 2) * 8, j = column + q / 2 % RN * 8;
      if (i >= out.m) continue;
      const Pair pair = *reinterpret_cast<const Pair*>(total + q * max_threads * 2);
      if (out.has_vectors(j + 2)) {
        out.store_vector(blockIdx.y, i, j, pair);
      } else {
        if (j < out.n) out.store(blockIdx.y, i, j, pair.v[0]);
        if (j + 1 < out.n) out.store(blockIdx.y, i, j + 1, pair.v[1]);
      }
    }
  }
};

}  // namespace invar::backends::cuda::gemm

#endif
