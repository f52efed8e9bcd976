// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The register-tiled CUDA kernel of matmul for float in the usual layouts.
#ifndef INVAR_BACKENDS_CUDA_MATMUL_PANEL_HPP
#define INVAR_BACKENDS_CUDA_MATMUL_PANEL_HPP

#include <invar/backends/cuda/matmul_outputs.hpp>
#include <invar/backends/cuda/matmul_panel_copy.hpp>

#include <cstdint>
#include <type_traits>

namespace invar::backends::cuda::gemm {

/// What MatmulTile computes, with loops made for a layout: k is contiguous in a, and in b if BAlongK, otherwise n is.
/// The loop over the stages has no branch, and more than five in six of its instructions are fma.
/// \tparam Holds  operands pass through registers, both with k contiguous and in 16-byte vectors
template <class Shape, bool BAlongK, bool Holds>
struct MatmulPanel {
  static_assert(BAlongK || !Holds);
  static constexpr int M = Shape::M, N = Shape::N;
  static constexpr int max_threads = Shape::threads;
  static constexpr int min_blocks = Shape::MinBlocks;

  MatmulInput<float> a;
  MatmulInput<float> b;
  MatmulOutput<float> out;
  std::int64_t k;
  int leaf;

  static std::size_t shared_bytes() { return (Outputs::shared_totals + stages * stage) * sizeof(float); }
  static bool suits(const MatmulInput<float>& a, const MatmulInput<float>& b, int leaf) {
    return CopierA::suits(a, leaf) && CopierB::suits(b, leaf) && leaf % Depth == 0;
  }

  __device__ void operator()() const {
    extern __shared__ __align__(16) unsigned char matmul_shared[];
    float* const totals = reinterpret_cast<float*>(matmul_shared);
    float* const own_totals = totals + threadIdx.x * Outputs::V;
    float* const ring = totals + Outputs::shared_totals;
    const auto tile = TilePosition::of<M, N>(blockIdx.x, out.m, out.n);
    const std::int64_t k0 = std::int64_t{blockIdx.y} * leaf;
    const std::int64_t length = gridDim.y > 1 && k - k0 > leaf ? leaf : k - k0;
    const int whole = static_cast<int>(length / Depth), tail = static_cast<int>(length % Depth);  // stages, positions
    CopierA copy_a(a, tile.row, out.m, k0);
    CopierB copy_b(b, tile.column, out.n, k0);
    float* to_a = ring + CopierA::place();
    float* to_b = ring + stage_a + CopierB::place();

    int to_copy = whole;  // whole stages whose copies have not begun
    bool copies_tail = tail > 0;
    const auto copy_next = [&] {
      if (to_copy == 0 && !copies_tail) return;
      const int depth = to_copy > 0 ? Depth : tail;
      if (to_copy > 0)
        --to_copy;
      else
        copies_tail = false;
      copy_a.copy_part(to_a, depth);
      copy_b.copy_part(to_b, depth);
      copy_a.advance();
      copy_b.advance();
    };
#pragma unroll 1
    for (int s = 0; s + 1 < stages; ++s) {
      copy_next();
      commit_copies();
      to_a += stage;
      to_b += stage;
    }
    float chain[RM][RN];
    Outputs::clear(chain);
    // The operands of two positions: while one is used, the other is read.
    float x[2][RM], y[2][RN];
    const auto place = Outputs::place();
    const float* from_a = ring + place.row;
    const float* from_b = ring + stage_a + place.column;
    wait_copies<stages - 2>();
    __syncthreads();
    Outputs::read(x[0], y[0], from_a, from_b);

    int current = 0;                     // the stage in use
    int behind = -(stages - 1) * stage;  // from the stage copied to, to the next: what everyone has left
    const auto advance = [&](const auto is_inside) {
      const bool wraps = current == stages - 1;
      const int ahead = wraps ? -(stages - 1) * stage : stage;
      current = wraps ? 0 : current + 1;
      if constexpr (is_inside.value) {
        copy_a.begin(to_a);
        copy_b.begin(to_b);
        copy_a.advance();
        copy_b.advance();
      } else {
        copy_next();
      }
      commit_copies();
#pragma unroll
      for (int p = 0; p < Depth; ++p) {
        if constexpr (is_inside.value) {
          if (p == Depth - 3) copy_a.finish(to_a);
          if (p == Depth - 2) copy_b.finish(to_b);
        }
        if (p + 1 < Depth) {
          Outputs::read(x[(p + 1) % 2], y[(p + 1) % 2], from_a + (p + 1) * Outputs::stride_a,
                        from_b + (p + 1) * Outputs::stride_b);
        } else {
          wait_copies<stages - 2>();
          __syncthreads();
          from_a += ahead;
          from_b += ahead;
          Outputs::read(x[0], y[0], from_a, from_b);
        }
        Outputs::multiply(chain, x[p % 2], y[p % 2]);
      }
      to_a += behind;
      to_b += behind;
      behind = ahead;
    };

    const int per_leaf = leaf / Depth;
    int left_in_leaf = per_leaf;
    bool is_first = true;
    typename Outputs::Vector last;
    const auto fold = [&] {
      Outputs::fold(own_totals, last, chain, is_first);
      Outputs::clear(chain);
      is_first = false;
      left_in_leaf = per_leaf;
    };
    const bool is_inside = copy_a.is_whole() && copy_b.is_whole();
#pragma unroll 1
    for (int left = whole; left > 0;) {
      int steps = left_in_leaf < left ? left_in_leaf : left;
      const bool copies = is_inside && to_copy > 0;
      if (copies && to_copy < steps) steps = to_copy;
      left -= steps;
      left_in_leaf -= steps;
      if (copies) {
        to_copy -= steps;
#pragma unroll 1
        for (; steps > 0; --steps) advance(std::true_type{});
      } else {
#pragma unroll 1
        for (; steps > 0; --steps) advance(std::false_type{});
      }
      if (left_in_leaf == 0 || (left == 0 && tail == 0)) fold();
    }
    if (tail > 0) {
#pragma unroll 1
      for (int p = 0; p < tail; ++p) {
        Outputs::read(x[0], y[0], from_a + p * Outputs::stride_a, from_b + p * Outputs::stride_b);
        Outputs::multiply(chain, x[0], y[0]);
      }
      fold();
    }
    __syncthreads();
    Outputs::deposit(own_totals, last);
    __syncthreads();
    Outputs::store(out, totals, tile);
  }

 private:
  static constexpr int RM = Shape::RM, RN = Shape::RN;
  static constexpr int Depth = 8;               // positions of k in a stage
  static constexpr int stages = Holds ? 2 : 4;  // all but one are on their way
  using Outputs = TileOutputs<float, Shape, false>;
  template <int Rows, int Stride, bool AlongK>
  using Copier = std::conditional_t<Holds, PanelHolder<Rows, Depth, max_threads, Stride>,
                                    PanelCopier<Rows, Depth, max_threads, Stride, AlongK>>;
  using CopierA = Copier<M, Outputs::stride_a, true>;
  using CopierB = Copier<N, Outputs::stride_b, BAlongK>;
  static constexpr int stage_a = Depth * Outputs::stride_a;
  static constexpr int stage = stage_a + Depth * Outputs::stride_b;
};

}  // namespace invar::backends::cuda::gemm

#endif
