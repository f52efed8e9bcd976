// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The threads of the attention kernel that turn keys into probabilities.
#ifndef INVAR_BACKENDS_CUDA_ATTENTION_SCORES_HPP
#define INVAR_BACKENDS_CUDA_ATTENTION_SCORES_HPP

#include <invar/backends/cuda/attention_ring.hpp>
#include <invar/backends/cuda/attention_rows.hpp>

#include <cstdint>

namespace invar::backends::cuda::attn {

/// Step 1 of contract::Attention, and with RowStates steps 2, 3, 5 and what 6 needs.
template <class Shape, class Scalar, class K, class V>
class Scores {
  using Grid = typename Shape::ScoreGrid;
  static constexpr int M = Grid::rows, P = Grid::places;

 public:
  __device__ __forceinline__ Scores(const Work<Scalar, K, V>& work, unsigned char* shared, int thread)
      : work(work), shared(shared), thread(thread), grid(thread) {}

  __device__ __forceinline__ void run() {
    Ring<Shape, Scalar, K, V, true> ring(work, shared, thread);
    load_query();
    int parity = 0;
#pragma unroll 1
    for (int block = work.begin; block < work.end; block += Shape::block) {
      const RowStates<Shape, Scalar> rows(shared, parity);
      const int block_end = smaller(block + Shape::block, work.end);
#pragma unroll 1
      for (int position = block; position < block_end; position += Shape::panel) {
        clear();
#pragma unroll 1
        for (int piece = 0; piece < ring.pieces; ++piece) add(ring.next(), piece * Shape::key_width);
        store(rows.scores + position - block);
      }
      sync_group<Shape>(key_barrier);
      take_probabilities(rows, block);
      meet<Shape>();
      parity ^= 1;
    }
  }

 private:
  __device__ __forceinline__ Scalar* query() const { return reinterpret_cast<Scalar*>(shared + Shape::queries_at); }

  __device__ __forceinline__ void load_query() {
    const int spread = log2_up(work.a.head_dim);
    for (int i = thread; i < work.rows << spread; i += Shape::group) {
      const int row = i >> spread;
      const int d = i & ((1 << spread) - 1);
      if (d < work.a.head_dim)
        query()[Shape::query_at(row, d)] = load_widened<Scalar>(
            work.a.q, work.a.q.offset(work.token_of(row), work.head_of(row)) + d * work.a.q.stride[2]);
    }
  }

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int r = 0; r < M; ++r)
#pragma unroll
      for (int p = 0; p < P; ++p) score[r][p] = Scalar(0);
  }

  /// The elements from `first` on that the stage holds.
  __device__ __forceinline__ void add(const unsigned char* stage, int first) {
    constexpr int step = num::Symbolic<Scalar> ? 1 : P >= 4 || sizeof(K) == 4 ? 4 : 8;
    if (!grid.works()) return;
    const int width = smaller(Shape::key_width, work.a.head_dim - first);
    const Scalar* const q = query() + Shape::query_at(grid.row, first);
    const unsigned char* const keys = stage + grid.place * Shape::key_bytes;
    int d = 0;
#pragma unroll 1
    for (; d + step <= width; d += step) add_step<step>(q + Shape::query_at(0, d), keys, d);
    if constexpr (step > 1)
      for (; d < width; ++d) add_step<1>(q + Shape::query_at(0, d), keys, d);
  }

  template <int Step>
  __device__ __forceinline__ void add_step(const Scalar* q, const unsigned char* keys, int d) {
    // A thread's places are equal mod 8, or there is one only.
    static_assert(P == 1 || Grid::across % 8 == 0);
    const unsigned char* const k = keys + key_byte(grid.place, d * static_cast<int>(sizeof(K)));
    Scalar key[P][Step];
#pragma unroll
    for (int p = 0; p < P; ++p) load_widened<Step, K>(key[p], k + p * Grid::across * Shape::key_bytes);
#pragma unroll
    for (int r = 0; r < M; ++r) {
      constexpr int width = smaller(Step, 4);
#pragma unroll
      for (int first = 0; first < Step; first += width) {
        Scalar part[width];
        load_widened<width, Scalar>(part, q + Shape::query_at(r * Grid::down, first));
#pragma unroll
        for (int i = 0; i < width; ++i)
#pragma unroll
          for (int p = 0; p < P; ++p) score[r][p] = chain_step(part[i], key[p][first + i], score[r][p]);
      }
    }
  }

  __device__ __forceinline__ void store(Scalar* scores) const {
    if (!grid.works()) return;
#pragma unroll
    for (int r = 0; r < M; ++r)
#pragma unroll
      for (int p = 0; p < P; ++p)
        scores[(grid.row + r * Grid::down) * Shape::score_pitch + grid.place + p * Grid::across] = score[r][p];
  }

  /// Steps 2 and 3, and 5 and 6 where the split's last block is reached.
  __device__ __forceinline__ void take_probabilities(const RowStates<Shape, Scalar>& rows, int block) const {
    constexpr int together = Shape::group / Shape::row_lanes;
    // A row of the tile that does not exist has a place of its own too, and sees nothing.
    static_assert(Shape::rows * Shape::row_lanes % 32 == 0);
    const int split_begin = block / Shape::split * Shape::split;
    const bool last = block + Shape::block >= smaller(split_begin + Shape::split, work.end);
    for (int first = 0; first < work.rows; first += together) {
      if (first + thread / 32 * (32 / Shape::row_lanes) >= work.rows) break;  // a whole warp
      const int row = first + thread / Shape::row_lanes;
      const int seen = row < work.rows ? work.visible(row) : 0;
      rows.step(row, seen - block, work.a.scale_log2, block == split_begin);
      if (!last) continue;
      rows.end_split(row, seen, split_begin, split_begin == work.begin);
      if (work.a.splits > 0 && seen > Shape::split && seen > split_begin && thread % Shape::row_lanes == 0) {
        Scalar* const sums = work.a.sums + 2 * work.partial_at(row);
        sums[0] = rows.value(row_total_max, row);
        sums[1] = rows.value(row_total_sum, row);
      }
    }
  }

  const Work<Scalar, K, V>& work;
  unsigned char* const shared;
  const int thread;
  const Grid grid;
  Scalar score[M][P];
};

}  // namespace invar::backends::cuda::attn

#endif
