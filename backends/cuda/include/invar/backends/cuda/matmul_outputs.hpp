// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What the register-tiled CUDA kernels of matmul have in common: a thread's small matrix of fma chains, its totals and
/// their way to c.
#ifndef INVAR_BACKENDS_CUDA_MATMUL_OUTPUTS_HPP
#define INVAR_BACKENDS_CUDA_MATMUL_OUTPUTS_HPP

#include <invar/backends/cuda/matmul_operands.hpp>

#include <cstdint>

namespace invar::backends::cuda::gemm {

/// The shape of a tile: WarpsM × WarpsN warps; a warp is 4 × 8 threads of RM × RN outputs each.
template <int WarpsM_, int WarpsN_, int RM_, int RN_, int MinBlocks_>
struct TileShape {
  static constexpr int WarpsM = WarpsM_, WarpsN = WarpsN_, RM = RM_, RN = RN_;
  static constexpr int MinBlocks = MinBlocks_;  ///< blocks of a multiprocessor that registers must allow
  static constexpr int M = WarpsM * 4 * RM, N = WarpsN * 8 * RN;
  static constexpr int threads = WarpsM * WarpsN * 32;
};

/// Where a tile stands in the matrix: blocks that run at the same time share rows of a and columns of b, so that the
/// second-level cache holds them.
struct TilePosition {
  std::int64_t row, column;  ///< of c, where the tile begins

  /// \param m, n  extents of c; M and N are the tile's
  template <int M, int N>
  static __device__ TilePosition of(unsigned block, std::int64_t m, std::int64_t n) {
    // The number of tiles fits 31 bits, as a grid has to.
    constexpr unsigned band = 16;
    const auto tiles_m = static_cast<unsigned>((m + M - 1) / M), tiles_n = static_cast<unsigned>((n + N - 1) / N);
    const unsigned first = block / (band * tiles_n) * band;
    const unsigned height = tiles_m - first < band ? tiles_m - first : band;
    const unsigned rest = block % (band * tiles_n);
    return {std::int64_t{first + rest % height} * M, std::int64_t{rest / height} * N};
  }
};

/// A thread's part of a tile of outputs.
/// \tparam KeepsLast  a thread's last vector of totals stays in registers until the end, so that one more block fits
template <class Acc, class Shape, bool KeepsLast>
struct TileOutputs {
  static constexpr int RM = Shape::RM, RN = Shape::RN, M = Shape::M, N = Shape::N, threads = Shape::threads;
  static constexpr int V = 16 / static_cast<int>(sizeof(Acc));  ///< elements of a 16-byte access
  static constexpr int stride_a = M + V, stride_b = N + V;      ///< from k to k of a stage of operands
  using Vector = Pack<Acc, V>;
  static constexpr int vectors = RM * RN / V;
  static constexpr int shared_totals = (vectors - KeepsLast) * threads * V;  ///< elements; fold() wants t·V of them
  static_assert(V % 2 == 0);

  /// Where a thread's rows of a stage begin, and its columns.
  struct Place {
    unsigned row, column;
  };
  static __device__ Place place() {
    // Without signs: the compiler computes these anew in every pass.
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    // This order of lanes lets both halves of a warp read with one pass over the banks.
    const unsigned tx = lane / 2 % 8, ty = lane / 16 * 2 + lane % 2;
    return {warp / Shape::WarpsN * 4 * RM + ty * V, warp % Shape::WarpsN * 8 * RN + tx * V};
  }

  static __device__ void clear(Acc (&chain)[RM][RN]) {
#pragma unroll
    for (int i = 0; i < RM; ++i)
#pragma unroll
      for (int j = 0; j < RN; ++j) chain[i][j] = Acc(0);
  }

  /// R elements of a tile's row: groups of V, as far apart as the warp's threads reach.
  template <int R, int Lanes>
  static __device__ void read_row(Acc (&to)[R], const Acc* from) {
#pragma unroll
    for (int g = 0; g < R / V; ++g) {
      const Vector vector = *reinterpret_cast<const Vector*>(from + g * Lanes * V);
#pragma unroll
      for (int v = 0; v < V; ++v) to[g * V + v] = vector.v[v];
    }
  }
  static __device__ void read(Acc (&x)[RM], Acc (&y)[RN], const Acc* from_a, const Acc* from_b) {
    read_row<RM, 4>(x, from_a);
    read_row<RN, 8>(y, from_b);
  }

  /// In serpentines: each fma shares an operand with the one before it, which saves a register read. With the swap in
  /// fold() this took float's 4096³ in 128 × 128 tiles from 0.88 to 0.97 of cuBLAS on an H200.
  static __device__ void multiply(Acc (&chain)[RM][RN], const Acc (&x)[RM], const Acc (&y)[RN]) {
#pragma unroll
    for (int i = 0; i < RM; ++i)
#pragma unroll
      for (int q = 0; q < RN; ++q) {
        const int j = i % 2 == 0 ? q : RN - 1 - q;
        chain[i][j] = num::fma(x[i], y[j], chain[i][j]);
      }
  }

  /// Adds the leaf to the thread's totals, which it alone touches: vector q is `threads` vectors after q − 1.
  /// Neighbours are swapped: the compiler keeps a chain in a register as odd or even as its place in the vector, and so
  /// reads it from another register bank than its column's operand.
  static __device__ void fold(Acc* total, Vector& last, const Acc (&chain)[RM][RN], bool first) {
#pragma unroll
    for (int q = 0; q < vectors; ++q) {
      Vector& sum = KeepsLast && q + 1 == vectors ? last : *reinterpret_cast<Vector*>(total + q * threads * V);
      Vector value;
#pragma unroll
      for (int v = 0; v < V; ++v) value.v[v] = chain[q / (RN / V)][q % (RN / V) * V + (v ^ 1)];
      if (!first) {  // −0 + chain is the chain
        const Vector before = sum;
#pragma unroll
        for (int v = 0; v < V; ++v) value.v[v] = num::add(before.v[v], value.v[v]);
      }
      sum = value;
    }
  }

  /// Puts a vector kept in registers to the others, for store(). Nobody uses what lies behind the totals any more.
  static __device__ void deposit(Acc* total, const Vector& last) {
    if (KeepsLast) *reinterpret_cast<Vector*>(total + (vectors - 1) * threads * V) = last;
  }

  /// Along the memory of c, whatever its layout.
  static __device__ void store(const MatmulOutput<Acc>& out, const Acc* totals, const TilePosition& tile) {
    const bool by_columns = out.chains == nullptr && out.row_stride == 1 && out.column_stride != 1;
    const bool by_vectors = out.has_vectors(tile.column + N);
#pragma unroll 2
    for (int e = static_cast<int>(threadIdx.x); e < M * N / V; e += threads) {
      const int i = by_columns ? e % M : e / (N / V);
      const int j = (by_columns ? e / M : e % (N / V)) * V;
      if (tile.row + i >= out.m) continue;
      Vector vector = *reinterpret_cast<const Vector*>(totals + total_of(i, j));
#pragma unroll
      for (int v = 0; v < V; v += 2) {
        const Acc even = vector.v[v + 1];
        vector.v[v + 1] = vector.v[v];
        vector.v[v] = even;
      }
      if (by_vectors) {
        out.store_vector(blockIdx.y, tile.row + i, tile.column + j, vector);
        continue;
      }
#pragma unroll
      for (int v = 0; v < V; ++v)
        if (tile.column + j + v < out.n) out.store(blockIdx.y, tile.row + i, tile.column + j + v, vector.v[v]);
    }
  }

 private:
  /// Where fold() left the vector of the tile's element (i, j).
  static __device__ int total_of(int i, int j) {
    const int warp = i / (4 * RM) * Shape::WarpsN + j / (8 * RN);
    const int in_m = i % (4 * RM), in_n = j % (8 * RN);
    const int ty = in_m % (4 * V) / V, tx = in_n % (8 * V) / V;
    const int own_i = in_m / (4 * V) * V + in_m % V;
    const int thread = warp * 32 + ty / 2 * 16 + tx * 2 + ty % 2;
    const int vector = own_i * (RN / V) + in_n / (8 * V);
    return (vector * threads + thread) * V;
  }
};

}  // namespace invar::backends::cuda::gemm

#endif
