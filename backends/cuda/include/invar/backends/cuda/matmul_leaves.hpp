// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The CUDA kernel of matmul for the fewest rows of a: the warps of a block compute leaves of the same outputs.
#ifndef INVAR_BACKENDS_CUDA_MATMUL_LEAVES_HPP
#define INVAR_BACKENDS_CUDA_MATMUL_LEAVES_HPP

#include <invar/backends/cuda/matmul_columns.hpp>
#include <invar/backends/cuda/matmul_operands.hpp>

#include <cstdint>

namespace invar::backends::cuda::gemm {

/// The kernel. blockIdx.x is the tile of 32 columns, all rows of a slab first. In every round each warp computes one
/// leaf with a ring of its own; then the first warp adds them to the totals in ascending order. Copies for the next
/// round run through.
/// \tparam Rows  of a, that a block computes: 1, 2 or 4
/// \tparam Stages  of a warp's ring; all but one are on their way
/// \tparam MinBlocks  of a multiprocessor that registers must allow
template <class A, class B, int Rows, int Stages, int MinBlocks>
struct MatmulLeaves {
  using Acc = num::accumulator_t<A>;
  using Columns = StreamColumns<Acc, B, StreamShape<1, Rows>>;
  static constexpr int max_warps = 8;
  static constexpr int max_threads = max_warps * 32;
  static constexpr int min_blocks = MinBlocks;
  static constexpr int M = Columns::M, N = 32;

  MatmulInput<A> a;
  Columns b;
  MatmulOutput<Acc> out;
  std::int64_t k;
  std::int64_t leaves;
  int leaf;
  int warps;

  /// As many warps as have leaves and find a place on the device.
  static int warps_for(std::int64_t leaves, std::size_t shared_limit) {
    int warps = max_warps;
    while (warps > 1 && (warps / 2 >= leaves || shared_bytes(warps) > shared_limit)) warps /= 2;
    return warps;
  }
  static std::size_t shared_bytes(int warps) {
    return static_cast<std::size_t>(warps) * (ring_bytes + 2 * chains_size * sizeof(Acc));
  }

  __device__ void operator()() const {
    extern __shared__ __align__(16) unsigned char matmul_shared[];
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    unsigned char* const ring = matmul_shared + warp * ring_bytes;
    // Two sets of the warps' chains: one is filled while the other is added.
    Acc* chains = reinterpret_cast<Acc*>(matmul_shared + warps * ring_bytes);
    Acc* other_chains = chains + warps * chains_size;
    const auto tiles_m = static_cast<unsigned>((out.m + M - 1) / M);  // fits, as the grid does
    const std::int64_t row0 = std::int64_t{blockIdx.x % tiles_m} * M;
    const std::int64_t column0 = std::int64_t{blockIdx.x / tiles_m} * N;
    const bool along_k = b.along_k();
    const LaneRow from(a, row0, out.m, lane);
    from.clear_beyond(ring);

    LeafWalk next(k, leaf, warp, warps);
    LeafWalk now = next;
    Held held;
    unsigned char* target = ring;
    const auto fetch = [&] {
      if (!next.done()) {
        const Step step = next.step(depth);
        b.fetch(target, lane, column0, along_k, next.at(), step.depth);
        from.fetch(rows_of(target), held, next.at(), step.depth);
      }
      commit_copies();
    };
    const auto deposit = [&] {
      if (!next.done()) {
        const Step step = next.step(depth);
        from.deposit(rows_of(target), held, step.depth);
        next.advance(step);
      }
      target = following(target, ring);
    };
#pragma unroll 1
    for (int i = 0; i + 1 < stages; ++i) {
      fetch();
      deposit();
    }

    Acc total[M];
#pragma unroll
    for (int i = 0; i < M; ++i) total[i] = Acc(-0.0);
    const unsigned char* current = ring;
#pragma unroll 1
    for (std::int64_t first = 0; first < leaves; first += warps) {
      if (!now.done()) {
        Acc chain[R][C];
        Columns::clear(chain, Acc(0));
        Step step;
        do {
          wait_copies<stages - 2>();
          __syncwarp();
          fetch();
          step = now.step(depth);
          now.advance(step);
          Columns::advance(chain, rows_of(current), current, lane, along_k, step.depth);
          deposit();
          current = following(current, ring);
        } while (!step.ends_leaf);
        Columns::deposit(chains + warp * chains_size, chain, lane, along_k);
      }
      __syncthreads();
      if (warp == 0) add(total, chains, lane, leaves - first < warps ? static_cast<int>(leaves - first) : warps);
      Acc* const free = other_chains;
      other_chains = chains;
      chains = free;
    }
    if (warp != 0 || column0 + lane >= out.n) return;
#pragma unroll
    for (int i = 0; i < M; ++i)
      if (row0 + i < out.m) out.finish(row0 + i, column0 + lane, total[i]);
  }

 private:
  static constexpr int R = Columns::R, C = Columns::C;
  static constexpr int stages = Stages, depth = Columns::depth, pitch = Columns::pitch;
  // A stage holds columns of b and, behind them, a's rows as [k][row].
  static constexpr int stage_bytes = Columns::stage_bytes + depth * pitch * static_cast<int>(sizeof(Acc));
  static constexpr int ring_bytes = stages * stage_bytes;
  static constexpr int chains_size = M * 32;  // of a warp
  static constexpr bool is_async = sizeof(A) == sizeof(Acc);
  static constexpr int lanes = 32 / M < depth ? 32 / M : depth;  // that bring one row of a
  static constexpr int passes = depth / lanes;                   // of theirs over a stage
  static_assert(depth % lanes == 0 && stage_bytes % 16 == 0);
  struct Held {
    A v[is_async ? 1 : passes];
  };

  template <class Byte>
  static __device__ Byte* following(Byte* stage, unsigned char* ring) {
    return stage == ring + (stages - 1) * stage_bytes ? ring : stage + stage_bytes;
  }
  static __device__ Acc* rows_of(unsigned char* stage) { return reinterpret_cast<Acc*>(stage + Columns::stage_bytes); }
  static __device__ const Acc* rows_of(const unsigned char* stage) {
    return reinterpret_cast<const Acc*>(stage + Columns::stage_bytes);
  }

  /// What a lane brings of a: every position of one row that is its own among the row's lanes.
  class LaneRow {
   public:
    __device__ LaneRow(const MatmulInput<A>& a, std::int64_t row0, std::int64_t m, int lane)
        : from_(a.data + (row0 + lane / lanes) * a.row_stride + lane % lanes * a.k_stride),
          k_stride_(a.k_stride),
          place_(lane % lanes * pitch + lane / lanes),
          p_(lane % lanes),
          has_place_(lane / lanes < M),
          exists_(has_place_ && row0 + lane / lanes < m) {}

    /// Zeros for a row beyond the last, in every stage.
    __device__ void clear_beyond(unsigned char* ring) const {
      if (exists_ || !has_place_) return;
#pragma unroll 1
      for (int s = 0; s < stages; ++s)
#pragma unroll
        for (int i = 0; i < passes; ++i) rows_of(ring + s * stage_bytes)[place_ + i * lanes * pitch] = Acc(0);
    }
    /// Starts to bring the first `here` positions from k0 on; elements to be widened wait in registers for deposit().
    __device__ void fetch(Acc* rows, Held& held, std::int64_t k0, int here) const {
      if (!exists_) return;
      const A* const from = from_ + k0 * k_stride_;
#pragma unroll
      for (int i = 0; i < passes; ++i) {
        if (p_ + i * lanes >= here) continue;
        if constexpr (is_async)
          copy_async<sizeof(A)>(rows + place_ + i * lanes * pitch, from + i * lanes * k_stride_);
        else
          held.v[i] = from[i * lanes * k_stride_];
      }
    }
    __device__ void deposit(Acc* rows, const Held& held, int here) const {
      if constexpr (!is_async) {
        if (!exists_) return;
#pragma unroll
        for (int i = 0; i < passes; ++i)
          if (p_ + i * lanes < here) rows[place_ + i * lanes * pitch] = widened(held.v[i]);
      }
    }

   private:
    const A* from_;
    std::int64_t k_stride_;
    int place_, p_;
    bool has_place_, exists_;  // with few rows and a short stage some lanes bring nothing
  };

  static __device__ void add(Acc (&total)[M], const Acc* chains, int lane, int leaves) {
#pragma unroll 4
    for (int l = 0; l < leaves; ++l)
#pragma unroll
      for (int i = 0; i < M; ++i) total[i] = num::add(total[i], chains[l * chains_size + i * 32 + lane]);
  }
};

}  // namespace invar::backends::cuda::gemm

#endif
