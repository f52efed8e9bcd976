// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The register-tiled CUDA kernel of matmul for operands of any type and layout.
#ifndef INVAR_BACKENDS_CUDA_MATMUL_TILE_HPP
#define INVAR_BACKENDS_CUDA_MATMUL_TILE_HPP

#include <invar/backends/cuda/matmul_copy.hpp>
#include <invar/backends/cuda/matmul_operands.hpp>
#include <invar/backends/cuda/matmul_outputs.hpp>

#include <cstdint>

namespace invar::backends::cuda::gemm {

/// The kernel. blockIdx.x is the tile; with chains kept, blockIdx.y is the leaf, otherwise a block does all leaves.
template <class A, class B, class Shape>
struct MatmulTile {
  using Acc = num::accumulator_t<A>;
  static constexpr int max_threads = Shape::threads;
  static constexpr int min_blocks = Shape::MinBlocks;

  MatmulInput<A> a;
  MatmulInput<B> b;
  MatmulOutput<Acc> out;
  std::int64_t k;
  int leaf;
  bool vector_a, vector_b;

  static std::size_t shared_bytes() { return (shared_totals + stages * stage) * sizeof(Acc); }

  __device__ void operator()() const {
    extern __shared__ __align__(16) unsigned char matmul_shared[];
    Acc* const totals = reinterpret_cast<Acc*>(matmul_shared);
    Acc* const ring = totals + shared_totals;
    const auto place = Outputs::place();
    const unsigned row = place.row, column = Depth * stride_a + place.column;
    Acc* const own_totals = totals + threadIdx.x * V;

    const auto tile = TilePosition::of<M, N>(blockIdx.x, out.m, out.n);
    LeafWalk next(k, leaf, blockIdx.y, gridDim.y);
    TileLoader<A, M, Depth, max_threads, 1, stride_a> load_a(a, tile.row, out.m, next.at(), vector_a);
    TileLoader<B, N, Depth, max_threads, 1, stride_b> load_b(b, tile.column, out.n, next.at(), vector_b);

    LeafWalk now = next;
#pragma unroll 1
    for (int s = 0; s + 1 < stages; ++s) {
      Acc* const to = ring + s * stage;
      if (!next.done()) {
        const Step step = next.step(Depth);
        load_a.fetch(to, step.depth);
        load_b.fetch(to + Depth * stride_a, step.depth);
        load_a.deposit(to);
        load_b.deposit(to + Depth * stride_a);
        next.advance(step);
      }
      commit_copies();
    }
    Acc chain[RM][RN];
    Outputs::clear(chain);
    // The operands of two positions: while one is used, the other is read.
    Acc x[2][RM], y[2][RN];
    wait_copies<stages - 2>();
    __syncthreads();
    Outputs::read(x[0], y[0], ring + row, ring + column);

    Acc* current = ring;
    Acc* target = ring + (stages - 1) * stage;  // the stage that everyone has left
    bool is_first = true;
    Vector last;
#pragma unroll 1
    while (!now.done()) {
      const Step step = now.step(Depth);
      now.advance(step);
      const bool fetches = !next.done();
      const Step coming = next.step(Depth);
      if (fetches) load_a.fetch(target, coming.depth);
      const Acc* from_a = current + row;
      const Acc* from_b = current + column;
      Acc* const following = current == ring + (stages - 1) * stage ? ring : current + stage;
      const auto fetch_b = [&] {
        if (fetches) load_b.fetch(target + Depth * stride_a, coming.depth);
        commit_copies();
      };
      const auto follow = [&] {
        wait_copies<stages - 2>();
        __syncthreads();
        Outputs::read(x[0], y[0], following + row, following + column);
      };
      if (num::Ieee<Acc> && step.depth == Depth) {
        // Not unrolled in one piece, for the instruction cache's sake.
#pragma unroll 1
        for (int p0 = 0; p0 < Depth; p0 += unrolled) {
          const bool is_last = p0 + unrolled == Depth;
#pragma unroll
          for (int p = 0; p < unrolled; ++p) {
            if (p == unrolled / 2 && is_last) fetch_b();
            if (p + 1 < unrolled || !is_last)
              Outputs::read(x[(p + 1) % 2], y[(p + 1) % 2], from_a + (p + 1) * stride_a, from_b + (p + 1) * stride_b);
            else
              follow();
            Outputs::multiply(chain, x[p % 2], y[p % 2]);
          }
          from_a += unrolled * stride_a;
          from_b += unrolled * stride_b;
        }
      } else {
        fetch_b();
#pragma unroll 1
        for (int p = 0; p < step.depth; ++p) {
          Outputs::read(x[0], y[0], from_a + p * stride_a, from_b + p * stride_b);
          Outputs::multiply(chain, x[0], y[0]);
        }
        follow();
      }
      if (fetches) {
        load_a.deposit(target);
        load_b.deposit(target + Depth * stride_a);
        next.advance(coming);
      }
      if (step.ends_leaf) {
        Outputs::fold(own_totals, last, chain, is_first);
        is_first = false;
        Outputs::clear(chain);
      }
      target = current;
      current = following;
    }
    __syncthreads();
    Outputs::deposit(own_totals, last);
    __syncthreads();
    Outputs::store(out, totals, tile);
  }

 private:
  using Outputs = TileOutputs<Acc, Shape, true>;
  using Vector = typename Outputs::Vector;
  static constexpr int RM = Shape::RM, RN = Shape::RN, M = Shape::M, N = Shape::N;
  // Operands to be widened are held in registers, and symbols are not for speed: shallow stages are enough.
  static constexpr bool is_deep = num::Ieee<Acc> && sizeof(A) == sizeof(Acc) && sizeof(B) == sizeof(Acc);
  static constexpr int Depth = is_deep ? 16 : 8;  // positions of k in a stage
  static constexpr int stages = is_deep ? 3 : 4;  // all but one are on their way
  static constexpr int unrolled = 8;              // positions of k in a row
  static constexpr int V = Outputs::V, stride_a = Outputs::stride_a, stride_b = Outputs::stride_b;
  static constexpr int stage = Depth * (stride_a + stride_b);
  static constexpr int shared_totals = Outputs::shared_totals;
  static_assert(unrolled % 2 == 0 && Depth % unrolled == 0 && stages > 2 && stages * stage >= Shape::threads * V);
};

}  // namespace invar::backends::cuda::gemm

#endif
