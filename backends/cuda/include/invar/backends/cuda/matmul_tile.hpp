// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The register-tiled CUDA kernel of matmul: every thread continues a small matrix of fma chains.
#ifndef INVAR_BACKENDS_CUDA_MATMUL_TILE_HPP
#define INVAR_BACKENDS_CUDA_MATMUL_TILE_HPP

#include <invar/backends/cuda/matmul_copy.hpp>
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
    // Without signs: the compiler computes these anew in every pass.
    const unsigned t = threadIdx.x, warp = t / 32, lane = t % 32;
    // This order of lanes lets both halves of a warp read with one pass over the banks.
    const unsigned tx = lane / 2 % 8, ty = lane / 16 * 2 + lane % 2;
    const unsigned row = warp / Shape::WarpsN * 4 * RM + ty * V;
    const unsigned column = Depth * stride_a + warp % Shape::WarpsN * 8 * RN + tx * V;

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
    clear(chain);
    // The operands of two positions: while one is used, the other is read.
    Acc x[2][RM], y[2][RN];
    wait_copies<stages - 2>();
    __syncthreads();
    read(x[0], y[0], ring + row, ring + column);

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
        read(x[0], y[0], following + row, following + column);
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
              read(x[(p + 1) % 2], y[(p + 1) % 2], from_a + (p + 1) * stride_a, from_b + (p + 1) * stride_b);
            else
              follow();
            multiply(chain, x[p % 2], y[p % 2]);
          }
          from_a += unrolled * stride_a;
          from_b += unrolled * stride_b;
        }
      } else {
        fetch_b();
#pragma unroll 1
        for (int p = 0; p < step.depth; ++p) {
          read(x[0], y[0], from_a + p * stride_a, from_b + p * stride_b);
          multiply(chain, x[0], y[0]);
        }
        follow();
      }
      if (fetches) {
        load_a.deposit(target);
        load_b.deposit(target + Depth * stride_a);
        next.advance(coming);
      }
      if (step.ends_leaf) {
        fold(totals + t * V, last, chain, is_first);
        is_first = false;
        clear(chain);
      }
      target = current;
      current = following;
    }
    __syncthreads();
    *reinterpret_cast<Vector*>(totals + shared_totals + t * V) = last;
    __syncthreads();
    store(totals, tile);
  }

 private:
  static constexpr int RM = Shape::RM, RN = Shape::RN, M = Shape::M, N = Shape::N;
  // Operands to be widened are held in registers, and symbols are not for speed: shallow stages are enough.
  static constexpr bool is_deep = num::Ieee<Acc> && sizeof(A) == sizeof(Acc) && sizeof(B) == sizeof(Acc);
  static constexpr int Depth = is_deep ? 16 : 8;                // positions of k in a stage
  static constexpr int stages = is_deep ? 3 : 4;                // all but one are on their way
  static constexpr int unrolled = 8;                            // positions of k in a row
  static constexpr int V = 16 / static_cast<int>(sizeof(Acc));  // elements of a 16-byte access
  static constexpr int stride_a = M + V, stride_b = N + V;
  static constexpr int stage = Depth * (stride_a + stride_b);
  using Vector = Pack<Acc, V>;
  // A thread's last vector of totals stays in registers, so that one more block fits; in the end it joins the others,
  // where the ring was.
  static constexpr int vectors = RM * RN / V;
  static constexpr int shared_totals = (vectors - 1) * Shape::threads * V;
  static_assert(unrolled % 2 == 0 && Depth % unrolled == 0 && stages > 2 && stages * stage >= Shape::threads * V);

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

  static __device__ void multiply(Acc (&chain)[RM][RN], const Acc (&x)[RM], const Acc (&y)[RN]) {
#pragma unroll
    for (int i = 0; i < RM; ++i)
#pragma unroll
      for (int j = 0; j < RN; ++j) chain[i][j] = num::fma(x[i], y[j], chain[i][j]);
  }

  /// Adds the leaf to the thread's totals, which it alone touches: vector q is `max_threads` vectors after q − 1.
  static __device__ void fold(Acc* total, Vector& last, const Acc (&chain)[RM][RN], bool first) {
#pragma unroll
    for (int q = 0; q < vectors; ++q) {
      Vector& sum = q + 1 == vectors ? last : *reinterpret_cast<Vector*>(total + q * max_threads * V);
      Vector value;
#pragma unroll
      for (int v = 0; v < V; ++v) value.v[v] = chain[q / (RN / V)][q % (RN / V) * V + v];
      if (!first) {  // −0 + chain is the chain
        const Vector before = sum;
#pragma unroll
        for (int v = 0; v < V; ++v) value.v[v] = num::add(before.v[v], value.v[v]);
      }
      sum = value;
    }
  }

  /// Where fold() left the total of the tile's element (i, j).
  static __device__ int total_of(int i, int j) {
    const int warp = i / (4 * RM) * Shape::WarpsN + j / (8 * RN);
    const int in_m = i % (4 * RM), in_n = j % (8 * RN);
    const int ty = in_m % (4 * V) / V, tx = in_n % (8 * V) / V;
    const int own_i = in_m / (4 * V) * V + in_m % V;
    const int thread = warp * 32 + ty / 2 * 16 + tx * 2 + ty % 2;
    const int vector = own_i * (RN / V) + in_n / (8 * V);
    return (vector * max_threads + thread) * V + in_n % V;
  }

  /// Along the memory of c, whatever its layout.
  __device__ void store(const Acc* totals, const TilePosition& tile) const {
    const bool by_columns = out.chains == nullptr && out.row_stride == 1 && out.column_stride != 1;
    const bool by_vectors = out.has_vectors(tile.column + N);
#pragma unroll 2
    for (int e = static_cast<int>(threadIdx.x); e < M * N / V; e += max_threads) {
      const int i = by_columns ? e % M : e / (N / V);
      const int j = (by_columns ? e / M : e % (N / V)) * V;
      if (tile.row + i >= out.m) continue;
      const Vector vector = *reinterpret_cast<const Vector*>(totals + total_of(i, j));
      if (by_vectors) {
        out.store_vector(blockIdx.y, tile.row + i, tile.column + j, vector);
        continue;
      }
#pragma unroll
      for (int v = 0; v < V; ++v)
        if (tile.column + j + v < out.n) out.store(blockIdx.y, tile.row + i, tile.column + j + v, vector.v[v]);
    }
  }
};

}  // namespace invar::backends::cuda::gemm

#endif
