// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The CUDA kernel of matmul for few rows of a: b streams through every warp's own ring of shared memory.
#ifndef INVAR_BACKENDS_CUDA_MATMUL_STREAM_HPP
#define INVAR_BACKENDS_CUDA_MATMUL_STREAM_HPP

#include <invar/backends/cuda/matmul_columns.hpp>
#include <invar/backends/cuda/matmul_operands.hpp>

#include <cstdint>

namespace invar::backends::cuda::gemm {

/// The kernel. blockIdx.x is the tile, all rows of a column slab first; blockIdx.y the leaf where chains are kept,
/// otherwise a block does all leaves.
template <class A, class B, class Shape>
struct MatmulStream {
  using Acc = num::accumulator_t<A>;
  using Columns = StreamColumns<Acc, B, Shape>;
  static constexpr int warps = 4;
  static constexpr int max_threads = warps * 32;
  static constexpr int min_blocks = 2;
  static constexpr int N = warps * 32;

  MatmulInput<A> a;
  Columns b;
  MatmulOutput<Acc> out;
  std::int64_t k;
  int leaf;

  static std::size_t shared_bytes() { return warps * ring_bytes + 2 * chunk_size * sizeof(Acc); }

  __device__ void operator()() const {
    extern __shared__ __align__(16) unsigned char matmul_shared[];
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    unsigned char* const ring = matmul_shared + warp * ring_bytes;
    Acc* const chunks = reinterpret_cast<Acc*>(matmul_shared + warps * ring_bytes);
    const auto tiles_m = static_cast<unsigned>((out.m + M - 1) / M);  // fits, as the grid does
    const std::int64_t row0 = std::int64_t{blockIdx.x % tiles_m} * M;
    const std::int64_t column0 = std::int64_t{blockIdx.x / tiles_m} * N + warp * 32;
    const bool along_k = b.along_k();

    Acc chain[R][C], total[R][C];
    Columns::clear(chain, Acc(0));
    Columns::clear(total, Acc(-0.0));

    LeafWalk next_b(k, leaf, blockIdx.y, gridDim.y);
    LeafWalk next_a = next_b, now = next_b;
    const auto fetch_chunk = [&](Acc* to) {
      if (next_a.done()) return;
      const Step step = next_a.step(chunk_depth);
      fetch_rows(to, row0, next_a.at(), step.depth);
      next_a.advance(step);
    };
    fetch_chunk(chunks);
    int write = 0;
    const auto fetch = [&] {
      if (!next_b.done()) {
        const Step step = next_b.step(depth);
        b.fetch(ring + write * stage_bytes, lane, column0, along_k, next_b.at(), step.depth);
        next_b.advance(step);
      }
      commit_copies();
      write = write + 1 == stages ? 0 : write + 1;
    };
#pragma unroll 1
    for (int i = 0; i + 1 < stages; ++i) fetch();

    int read = 0, chunk = 1, steps_in_chunk = steps;
    bool chunk_begins = true;
    while (!now.done()) {
      if (chunk_begins && steps_in_chunk + 1 < stages)
        wait_copies<0>();  // a short chunk did not outlast the copy of its successor
      else
        wait_copies<stages - 2>();
      if (chunk_begins) {
        // Everyone has left the chunk before, and everyone's part of this one is there.
        __syncthreads();
        chunk ^= 1;
        steps_in_chunk = 0;
        fetch_chunk(chunks + (chunk ^ 1) * chunk_size);
      } else {
        __syncwarp();
      }
      fetch();
      const Step step = now.step(depth);
      const unsigned char* const tile = ring + read * stage_bytes;
      const Acc* const rows = chunks + chunk * chunk_size + steps_in_chunk * depth * pitch;
      Columns::advance(chain, rows, tile, lane, along_k, step.depth);
      read = read + 1 == stages ? 0 : read + 1;
      ++steps_in_chunk;
      chunk_begins = step.ends_leaf || steps_in_chunk == steps;
      if (step.ends_leaf) {
        fold(total, chain);
        Columns::clear(chain, Acc(0));
      }
      now.advance(step);
    }
    store(reinterpret_cast<Acc*>(ring), total, lane, row0, column0, along_k);
  }

 private:
  static constexpr int R = Columns::R, C = Columns::C, M = Columns::M;
  static constexpr int depth = Columns::depth, pitch = Columns::pitch;
  static constexpr int stage_bytes = Columns::stage_bytes;
  static constexpr int stages = 4;  // of a ring; all but one are on their way
  static constexpr int ring_bytes = stages * stage_bytes;
  static constexpr int steps = 4;  // stages in which a chunk of a is used
  static constexpr int chunk_depth = steps * depth;
  static constexpr int chunk_size = chunk_depth * pitch;
  static_assert(stages - 1 <= steps);
  static_assert(M * 32 * static_cast<int>(sizeof(Acc)) <= ring_bytes);

  static __device__ void fold(Acc (&total)[R][C], const Acc (&chain)[R][C]) {
#pragma unroll
    for (int i = 0; i < R; ++i)
#pragma unroll
      for (int j = 0; j < C; ++j) total[i][j] = num::add(total[i][j], chain[i][j]);
  }

  /// Brings the block's rows of a over one chunk of k as [k][row], zeros for the rows beyond the last.
  __device__ void fetch_rows(Acc* to, std::int64_t row0, std::int64_t k0, int here) const {
    const int t = static_cast<int>(threadIdx.x);
#pragma unroll 8
    for (int pass = 0; pass < chunk_depth * M / max_threads; ++pass) {
      const int e = pass * max_threads + t;
      const int p = e / (8 * M) * 8 + e % 8, i = e / 8 % M;
      if (p >= here) continue;
      Acc* const target = to + p * pitch + i;
      const A* const from = a.data + (row0 + i) * a.row_stride + (k0 + p) * a.k_stride;
      if (row0 + i >= out.m)
        *target = Acc(0);
      else if constexpr (sizeof(A) == sizeof(Acc))
        copy_async<sizeof(A)>(target, from);
      else
        *target = widened(*from);
    }
  }

  /// Through the ring, which is free now, so that the stores run along c's rows.
  __device__ void store(Acc* tile, const Acc (&total)[R][C], int lane, std::int64_t row0, std::int64_t column0,
                        bool along_k) const {
    wait_copies<0>();
    __syncwarp();
    Columns::deposit(tile, total, lane, along_k);
    __syncwarp();
    if (column0 + lane >= out.n) return;
#pragma unroll 1
    for (int i = 0; i < M && row0 + i < out.m; ++i)
      out.store(blockIdx.y, row0 + i, column0 + lane, tile[i * 32 + lane]);
  }
};

}  // namespace invar::backends::cuda::gemm

#endif
