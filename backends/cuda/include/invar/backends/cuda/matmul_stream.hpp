// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The CUDA kernel of matmul for few rows of a: b streams through every warp's own ring of shared memory.
#ifndef INVAR_BACKENDS_CUDA_MATMUL_STREAM_HPP
#define INVAR_BACKENDS_CUDA_MATMUL_STREAM_HPP

#include <invar/backends/cuda/matmul_copy.hpp>
#include <invar/backends/cuda/matmul_operands.hpp>

#include <cstdint>

namespace invar::cuda::gemm {

/// A warp computes 32 columns by LanesM·R rows; a thread R rows by LanesM columns, or more with more columns a lane.
template <int LanesM_, int R_>
struct StreamShape {
  static constexpr int LanesM = LanesM_, R = R_;
  static constexpr int C = LanesM;  ///< columns of a thread
  static constexpr int M = LanesM * R;
};

/// The kernel. blockIdx.x is the tile, all rows of a column slab first; blockIdx.y the leaf where chains are kept,
/// otherwise a block does all leaves.
template <class A, class B, class Shape>
struct MatmulStream {
  using Acc = num::accumulator_t<A>;
  static constexpr int warps = 4;
  static constexpr int max_threads = warps * 32;
  static constexpr int min_blocks = 2;
  static constexpr int N = warps * 32;

  MatmulInput<A> a;
  MatmulInput<B> b;
  MatmulOutput<Acc> out;
  std::int64_t k;
  int leaf;
  bool vector_k, vector_n;  ///< b may be copied by 16 bytes along k, or along n

  static std::size_t shared_bytes() { return warps * ring_bytes + 2 * chunk_size * sizeof(Acc); }

  __device__ void operator()() const {
    extern __shared__ __align__(16) unsigned char matmul_shared[];
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    unsigned char* const ring = matmul_shared + warp * ring_bytes;
    Acc* const chunks = reinterpret_cast<Acc*>(matmul_shared + warps * ring_bytes);
    const std::int64_t tiles_m = (out.m + M - 1) / M;
    const std::int64_t row0 = blockIdx.x % tiles_m * M;
    const std::int64_t column0 = blockIdx.x / tiles_m * N + warp * 32;
    const int lane_m = lane % LanesM, lane_n = lane / LanesM;
    const bool along_k =
        b.k_stride == 1;  // the ring holds what memory holds contiguous: k of a column, or columns of k

    Acc chain[R][C], total[R][C];
    clear(chain, Acc(0));
    clear(total, Acc(-0.0));

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
        fetch_columns(ring + write * stage_bytes, lane, column0, along_k, next_b.at(), step.depth);
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
      const Acc* const rows = chunks + chunk * chunk_size + steps_in_chunk * depth * pitch + lane_m * R;
      if (along_k)
        advance<true>(chain, rows, tile + lane_n * k_pitch, step.depth);
      else
        advance<false>(chain, rows, tile + lane_n * C * static_cast<int>(sizeof(B)), step.depth);
      read = read + 1 == stages ? 0 : read + 1;
      ++steps_in_chunk;
      chunk_begins = step.ends_leaf || steps_in_chunk == steps;
      if (step.ends_leaf) {
        fold(total, chain);
        clear(chain, Acc(0));
      }
      now.advance(step);
    }
    store(reinterpret_cast<Acc*>(ring), total, lane, row0, column0, along_k);
  }

 private:
  static constexpr int LanesM = Shape::LanesM, R = Shape::R, C = Shape::C, M = Shape::M;
  static constexpr int lanes_n = 32 / LanesM;
  static constexpr int stages = 4;                                  // of a ring; all but one are on their way
  static constexpr int depth = 128 / static_cast<int>(sizeof(B));   // positions of k in a stage
  static constexpr int pack = 16 / static_cast<int>(sizeof(B));     // elements of a 16-byte copy
  static constexpr int k_pitch = 128 + 16;                          // bytes from column to column where k is contiguous
  static constexpr int n_pitch = 32 * static_cast<int>(sizeof(B));  // bytes from k to k where columns are contiguous
  static constexpr int stage_bytes = 32 * k_pitch;                  // not less than depth·n_pitch
  static constexpr int ring_bytes = stages * stage_bytes;
  static constexpr int steps = 4;  // stages in which a chunk of a is used
  static constexpr int chunk_depth = steps * depth;
  static constexpr int V = 16 / static_cast<int>(sizeof(Acc));
  static constexpr int pitch = M % 8 == 0 ? M + 4 : M;  // from k to k of a chunk; 8 by 4 lanes meet no bank twice
  static constexpr int chunk_size = chunk_depth * pitch;
  static_assert(R % V == 0 && stages - 1 <= steps && depth * n_pitch <= stage_bytes);
  static_assert(M * 32 * static_cast<int>(sizeof(Acc)) <= ring_bytes);

  static __device__ void clear(Acc (&x)[R][C], Acc value) {
#pragma unroll
    for (int i = 0; i < R; ++i)
#pragma unroll
      for (int j = 0; j < C; ++j) x[i][j] = value;
  }

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

  /// Brings the warp's columns of b over one stage of k.
  __device__ void fetch_columns(unsigned char* to, int lane, std::int64_t column0, bool along_k, std::int64_t k0,
                                int here) const {
    const std::int64_t columns = out.n - column0;
    const B* const from = b.data + column0 * b.row_stride + k0 * b.k_stride;
    if (along_k && vector_k) {
      const int p = lane % 8 * pack, j = lane / 8;
      const B* source = from + j * b.row_stride + p;
      to += j * k_pitch + p * static_cast<int>(sizeof(B));
      if (here == depth && columns >= 32) {
#pragma unroll
        for (int i = 0; i < 8; ++i) copy_async<16>(to + 4 * i * k_pitch, source + 4 * i * b.row_stride);
      } else {
        const int valid = here <= p ? 0 : (here - p < pack ? here - p : pack) * static_cast<int>(sizeof(B));
#pragma unroll 1
        for (int i = 0; i < 8; ++i)
          if (j + 4 * i < columns)
            copy_async_part<16>(to + 4 * i * k_pitch, valid > 0 ? source + 4 * i * b.row_stride : b.data, valid);
      }
    } else if (!along_k && vector_n) {
      constexpr int across = 32 / pack, down = 32 / across;  // copies of one k, positions of k at a time
      const int j = lane % across * pack, p = lane / across;
      const B* source = from + p * b.k_stride + j;
      to += p * n_pitch + j * static_cast<int>(sizeof(B));
      if (here == depth && columns >= 32) {
#pragma unroll
        for (int i = 0; i < depth / down; ++i) copy_async<16>(to + i * down * n_pitch, source + i * down * b.k_stride);
      } else {
        const int valid =
            columns <= j ? 0
                         : (columns - j < pack ? static_cast<int>(columns) - j : pack) * static_cast<int>(sizeof(B));
#pragma unroll 1
        for (int i = 0; i < depth / down; ++i)
          if (p + i * down < here)
            copy_async_part<16>(to + i * down * n_pitch, valid > 0 ? source + i * down * b.k_stride : b.data, valid);
      }
    } else {
#pragma unroll 4
      for (int e = lane; e < 32 * depth; e += 32) {
        const int p = along_k ? e % depth : e / 32, j = along_k ? e / depth : e % 32;
        if (p >= here || j >= columns) continue;
        unsigned char* const target = to + (along_k ? j * k_pitch + p * static_cast<int>(sizeof(B))
                                                    : p * n_pitch + j * static_cast<int>(sizeof(B)));
        const B* const source = from + j * b.row_stride + p * b.k_stride;
        if constexpr (sizeof(B) >= 4)
          copy_async<sizeof(B)>(target, source);
        else
          *reinterpret_cast<B*>(target) = *source;
      }
    }
  }

  /// Continues the chains over the first `here` positions of a stage.
  template <bool AlongK>
  static __device__ void advance(Acc (&chain)[R][C], const Acc* rows, const unsigned char* tile, int here) {
    if constexpr (num::Ieee<Acc>) {
      if (here == depth) {
#pragma unroll 2
        for (int p = 0; p < depth; p += pack)
          advance_pack<AlongK>(chain, rows + p * pitch, tile + offset<AlongK>(p, 0));
        return;
      }
    }
#pragma unroll 1
    for (int p = 0; p < here; ++p) {
      Acc y[C];
#pragma unroll
      for (int j = 0; j < C; ++j) y[j] = widened(*reinterpret_cast<const B*>(tile + offset<AlongK>(p, j)));
      step(chain, rows + p * pitch, y);
    }
  }

  /// Bytes to the lane's column j at position p. Along k a lane's columns are `lanes_n` apart, so that neighbouring
  /// lanes read neighbouring columns.
  template <bool AlongK>
  static constexpr __device__ int offset(int p, int j) {
    return AlongK ? j * lanes_n * k_pitch + p * static_cast<int>(sizeof(B))
                  : p * n_pitch + j * static_cast<int>(sizeof(B));
  }

  template <bool AlongK>
  static __device__ void advance_pack(Acc (&chain)[R][C], const Acc* rows, const unsigned char* tile) {
    if constexpr (AlongK) {
      Pack<B, pack> columns[C];
#pragma unroll
      for (int j = 0; j < C; ++j) columns[j] = *reinterpret_cast<const Pack<B, pack>*>(tile + offset<true>(0, j));
#pragma unroll
      for (int p = 0; p < pack; ++p) {
        Acc y[C];
#pragma unroll
        for (int j = 0; j < C; ++j) y[j] = widened(columns[j].v[p]);
        step(chain, rows + p * pitch, y);
      }
    } else {
      constexpr int W = C < pack ? C : pack;
#pragma unroll
      for (int p = 0; p < pack; ++p) {
        Acc y[C];
#pragma unroll
        for (int g = 0; g < C / W; ++g) {
          const auto columns = *reinterpret_cast<const Pack<B, W>*>(tile + offset<false>(p, g * W));
#pragma unroll
          for (int j = 0; j < W; ++j) y[g * W + j] = widened(columns.v[j]);
        }
        step(chain, rows + p * pitch, y);
      }
    }
  }

  static __device__ void step(Acc (&chain)[R][C], const Acc* rows, const Acc (&y)[C]) {
#pragma unroll
    for (int g = 0; g < R / V; ++g) {
      const auto x = *reinterpret_cast<const Pack<Acc, V>*>(rows + g * V);
#pragma unroll
      for (int v = 0; v < V; ++v)
#pragma unroll
        for (int j = 0; j < C; ++j) chain[g * V + v][j] = num::fma(x.v[v], y[j], chain[g * V + v][j]);
    }
  }

  /// Through the ring, which is free now, so that the stores run along c's rows.
  __device__ void store(Acc* tile, const Acc (&total)[R][C], int lane, std::int64_t row0, std::int64_t column0,
                        bool along_k) const {
    const int lane_m = lane % LanesM, lane_n = lane / LanesM;
    wait_copies<0>();
    __syncwarp();
#pragma unroll
    for (int i = 0; i < R; ++i)
#pragma unroll
      for (int j = 0; j < C; ++j)
        tile[(lane_m * R + i) * 32 + (along_k ? j * lanes_n + lane_n : lane_n * C + j)] = total[i][j];
    __syncwarp();
    if (column0 + lane >= out.n) return;
#pragma unroll 1
    for (int i = 0; i < M && row0 + i < out.m; ++i)
      out.store(blockIdx.y, row0 + i, column0 + lane, tile[i * 32 + lane]);
  }
};

}  // namespace invar::cuda::gemm

#endif
