// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The threads of the attention kernel that weight values with probabilities.
#ifndef INVAR_BACKENDS_CUDA_ATTENTION_OUTPUTS_HPP
#define INVAR_BACKENDS_CUDA_ATTENTION_OUTPUTS_HPP

#include <invar/backends/cuda/attention_ring.hpp>
#include <invar/backends/cuda/attention_rows.hpp>

#include <cstdint>

namespace invar::backends::cuda::attn {

/// Steps 4, 6 and 7 of contract::Attention.
template <class Shape, class Scalar, class K, class V>
class Outputs {
  using Grid = typename Shape::OutputGrid;
  static constexpr int M = Grid::rows;
  static constexpr int vector = Shape::vector;

 public:
  __device__ __forceinline__ Outputs(const Work<Scalar, K, V>& work, unsigned char* shared, int thread)
      : work(work), shared(shared), thread(thread), grid(thread) {}

  __device__ __forceinline__ void run() {
    Ring<Shape, Scalar, K, V, false> ring(work, shared, thread);
    clear();
    int parity = 0;
#pragma unroll 1
    for (int block = work.begin; block < work.end; block += Shape::block) {
      const RowStates<Shape, Scalar> rows(shared, parity);
      meet<Shape>();
      const int block_end = smaller(block + Shape::block, work.end);
      const unsigned char* stage = ring.next();
      scale(rows, block);
#pragma unroll 1
      for (int position = block;; stage = ring.next()) {
        add(stage, ring.value_pitch, rows.scores + position - block, position,
            smaller(ring.value_rows, block_end - position));
        position += ring.value_rows;
        if (position >= block_end) break;
      }
      const int next = block + Shape::block;
      if (next >= work.end || next % Shape::split == 0) end_split(rows, block);
      parity ^= 1;
    }
  }

  /// Rows that see nothing.
  __device__ __forceinline__ void store_zeros() const {
    for (int row = 0; row < work.rows; ++row)
      for (int d = thread; d < work.a.value_dim; d += Shape::group)
        store_narrowed(work.a.out, work.out_at(row) + d * work.a.out.stride[2], Scalar(0));
  }

 private:
  __device__ __forceinline__ int column(int pass) const { return pass * Shape::columns + grid.place * vector; }
  __device__ __forceinline__ int row_of(int r) const { return grid.row + r * Grid::down; }

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int pass = 0; pass < Shape::passes; ++pass)
#pragma unroll
      for (int r = 0; r < M; ++r)
#pragma unroll
        for (int c = 0; c < vector; ++c) output[pass][r][c] = Scalar(0);
  }

  __device__ __forceinline__ void scale(const RowStates<Shape, Scalar>& rows, int block) {
#pragma unroll
    for (int r = 0; r < M; ++r) {
      const int row = row_of(r);
      if (row >= work.rows || work.visible(row) <= block) continue;
      const Scalar alpha = rows.value(row_alpha, row);
#pragma unroll
      for (int pass = 0; pass < Shape::passes; ++pass)
#pragma unroll
        for (int c = 0; c < vector; ++c) output[pass][r][c] = num::mul_unfenced(output[pass][r][c], alpha);
    }
  }

  /// Positions first … first + here − 1, whose probabilities begin at p and whose values fill the stage.
  __device__ __forceinline__ void add(const unsigned char* stage, int pitch, const Scalar* p, int first, int here) {
    if (!grid.works() || column(0) >= work.a.value_dim) return;
    // Tokens see the more the further on they stand, so what the first one sees is seen by all rows.
    const int whole = smaller(here, larger(0, work.part.visible(0) - first));
    p += grid.row * Shape::score_pitch;
    const unsigned char* v = stage + column(0) * sizeof(V);
    int j = 0;
    for (; j + 4 <= whole; j += 4, v += 4 * pitch) add_step<4>(p + j, v, pitch);
    for (; j < whole; ++j, v += pitch) add_step<1>(p + j, v, pitch);
    if (j >= here) return;
    int seen[M];
#pragma unroll
    for (int r = 0; r < M; ++r) seen[r] = row_of(r) < work.rows ? work.visible(row_of(r)) - first : 0;
#pragma unroll 1
    for (; j < here; ++j, v += pitch) add_masked(p + j, v, seen, j);
  }

  template <int Step>
  __device__ __forceinline__ void add_step(const Scalar* p, const unsigned char* v, int pitch) {
    Scalar weight[M][Step];
#pragma unroll
    for (int r = 0; r < M; ++r) load_widened<Step, Scalar>(weight[r], p + r * Grid::down * Shape::score_pitch);
#pragma unroll
    for (int pass = 0; pass < Shape::passes; ++pass) {
      if (pass > 0 && work.a.value_dim <= pass * Shape::columns) break;
#pragma unroll
      for (int j = 0; j < Step; ++j) {
        Scalar value[vector];
        load_widened<vector, V>(value, v + j * pitch + pass * Shape::columns * sizeof(V));
#pragma unroll
        for (int r = 0; r < M; ++r)
#pragma unroll
          for (int c = 0; c < vector; ++c) output[pass][r][c] = chain_step(weight[r][j], value[c], output[pass][r][c]);
      }
    }
  }

  /// What a row does not see is not multiplied in, not even by zero.
  __device__ __forceinline__ void add_masked(const Scalar* p, const unsigned char* v, const int (&seen)[M], int j) {
#pragma unroll
    for (int pass = 0; pass < Shape::passes; ++pass) {
      if (pass > 0 && work.a.value_dim <= pass * Shape::columns) break;
      Scalar value[vector];
      load_widened<vector, V>(value, v + pass * Shape::columns * sizeof(V));
#pragma unroll
      for (int r = 0; r < M; ++r) {
        if (j >= seen[r]) continue;
        const Scalar weight = p[r * Grid::down * Shape::score_pitch];
#pragma unroll
        for (int c = 0; c < vector; ++c) output[pass][r][c] = chain_step(weight, value[c], output[pass][r][c]);
      }
    }
  }

  /// Steps 6 and 7 for the outputs: of the splits that this block takes one after another, or of its only one.
  __device__ __forceinline__ void end_split(const RowStates<Shape, Scalar>& rows, int block) {
    const int split_begin = block / Shape::split * Shape::split;
    const bool last = block + Shape::block >= work.end;
    if (grid.works()) {
#pragma unroll
      for (int r = 0; r < M; ++r)
        if (row_of(r) < work.rows) end_row(rows, r, split_begin, last);
    }
    clear();
  }

  __device__ __forceinline__ void end_row(const RowStates<Shape, Scalar>& rows, int r, int split_begin, bool last) {
    const int row = row_of(r);
    const int seen = work.visible(row);
    if (work.a.splits > 0) {
      if (seen > Shape::split) {
        if (seen <= split_begin) return;
        Scalar* const partial = work.a.partial + work.partial_at(row) * work.a.value_dim;
        for_each_output([&](int, int column, int pass, int c) { partial[column] = output[pass][r][c]; });
        return;
      }
      if (split_begin > 0) return;  // the block of split 0 stores the row
    }
    if (work.a.splits == 0 && (split_begin > 0 || !last)) {
      Scalar* const total =
          work.a.total + (std::int64_t{blockIdx.x} * Shape::outputs + r * vector) * Shape::group + thread;
      if (split_begin > 0) {
        const FoldFactors<Scalar> factors{rows.value(row_fold_total, row), rows.value(row_fold_split, row)};
        if (seen > split_begin)
          for_each_output([&](int index, int, int pass, int c) {
            output[pass][r][c] = fold(total[index * Shape::group], output[pass][r][c], factors);
          });
        else
          for_each_output([&](int index, int, int pass, int c) { output[pass][r][c] = total[index * Shape::group]; });
      }
      if (!last) {
        for_each_output([&](int index, int, int pass, int c) { total[index * Shape::group] = output[pass][r][c]; });
        return;
      }
    }
    const Scalar factor = rows.value(row_factor, row);
    const std::int64_t out = work.out_at(row);
    for_each_output([&](int, int column, int pass, int c) {
      store_narrowed(work.a.out, out + column * work.a.out.stride[2],
                     seen > 0 ? num::mul_unfenced(output[pass][r][c], factor) : Scalar(0));
    });
  }

  /// visit(index among the block's outputs of row 0, column, pass, element) for the thread's columns that exist.
  template <class Visit>
  __device__ __forceinline__ void for_each_output(const Visit& visit) const {
    const int first = column(0);
#pragma unroll
    for (int pass = 0; pass < Shape::passes; ++pass)
#pragma unroll
      for (int c = 0; c < vector; ++c)
        if (first + pass * Shape::columns + c < work.a.value_dim)
          visit(pass * M * vector + c, first + pass * Shape::columns + c, pass, c);
  }

  const Work<Scalar, K, V>& work;
  unsigned char* const shared;
  const int thread;
  const Grid grid;
  Scalar output[Shape::passes][M][vector];
};

}  // namespace invar::backends::cuda::attn

#endif
