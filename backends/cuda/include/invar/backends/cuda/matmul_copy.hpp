// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// How the tiled CUDA kernels of matmul bring elements to shared memory.
#ifndef INVAR_BACKENDS_CUDA_MATMUL_COPY_HPP
#define INVAR_BACKENDS_CUDA_MATMUL_COPY_HPP

#include <invar/backends/cuda/matmul_instructions.hpp>
#include <invar/backends/cuda/matmul_operands.hpp>

#include <cstdint>

namespace invar::backends::cuda::gemm {

/// Brings [Rows, Depth] of a or b, k along the second index, to shared memory, widened; element (row, k) goes to
/// row·RowStep + k·KStep, and one of the steps is 1. Elements that need no widening are copied asynchronously; others
/// are held in registers from fetch() to deposit(), so that the loads run while another tile is computed.
template <class T, int Rows, int Depth, int Threads, int RowStep, int KStep>
class TileLoader {
  using Acc = num::accumulator_t<T>;
  static constexpr bool is_async = sizeof(T) == sizeof(Acc);
  static constexpr bool is_by_rows = RowStep == 1;
  static constexpr int count = Rows * Depth / Threads;
  static constexpr int pack = 16 / static_cast<int>(sizeof(T));
  static_assert((RowStep == 1 || KStep == 1) && Rows * 8 % Threads == 0 && Threads % Rows == 0 && Depth % 8 == 0);
  // Copies of 16 bytes, along what shared memory holds contiguous.
  static constexpr int across = (is_by_rows ? Rows : Depth) / pack;
  static constexpr bool has_vectors = is_async && Threads % across == 0 && count % pack == 0;
  // Blocks of 8 positions of k by Threads / 8 rows, element by element.
  static constexpr int passes = Rows * 8 / Threads;

 public:
  /// \param row0  the tile's first row of the input
  /// \param rows  rows of the input
  /// \param k0  the first position; every fetch() goes on where the one before it ended
  /// \param vectors  the memory allows copies of 16 bytes along what shared memory holds contiguous
  __device__ TileLoader(const MatmulInput<T>& input, std::int64_t row0, std::int64_t rows, std::int64_t k0,
                        bool vectors)
      : row_stride_(input.row_stride),
        k_stride_(input.k_stride),
        rows_(rows - row0 < Rows ? static_cast<int>(rows - row0) : Rows) {
    const int t = static_cast<int>(threadIdx.x);
    // Lanes run along the memory. Where shared memory is turned against it, they cover 8 by 4 elements, so that the
    // stores meet few banks twice.
    if (has_vectors && vectors && (rows_ == Rows || !is_by_rows)) {
      walk_ = Walk::vectors;
      row_ = is_by_rows ? t % across * pack : t / across;
      k_ = is_by_rows ? t / across : t % across * pack;
    } else if (input.k_stride == 1) {
      walk_ = Walk::blocks;
      row_ = t / 8;
      k_ = t % 8;
    } else if (is_by_rows) {
      walk_ = Walk::rows;
      row_ = t % Rows;
      k_ = t / Rows;
    } else {
      walk_ = Walk::blocks;
      row_ = t / 32 * 4 + t % 4;
      k_ = t % 32 / 4;
    }
    from_ = input.data + (row0 + row_) * row_stride_ + (k0 + k_) * k_stride_;
  }

  /// Starts to bring the next `depth` positions. Places of rows beyond the last get some row's elements, places
  /// beyond the depth nothing.
  __device__ void fetch(Acc* tile, int depth) {
    tile += row_ * RowStep + k_ * KStep;
    if (rows_ == Rows && depth == Depth) {
      fetch_whole(tile);
      from_ += Depth * k_stride_;
    } else {
      fetch_part(tile, depth);
      from_ += depth * k_stride_;
    }
  }

  /// Ends what fetch() began for the same tile; asynchronous copies have to be waited for as well.
  __device__ void deposit(Acc* tile) {
    if constexpr (!is_async) {
      tile += row_ * RowStep + k_ * KStep;
      if (is_by_rows && walk_ == Walk::rows) {
#pragma unroll
        for (int i = 0; i < count; ++i) tile[to(rows_step(i))] = widened(held_[i]);
      } else {
#pragma unroll
        for (int i = 0; i < count; ++i) tile[to(block_step(i))] = widened(held_[i]);
      }
    }
  }

 private:
  enum class Walk { vectors, rows, blocks };
  /// Where a thread's copy lies from its first.
  struct Offset {
    int row, k;
  };
  KOKKOS_FUNCTION static constexpr Offset vector_step(int i) {
    return is_by_rows ? Offset{0, i * (Threads / across)} : Offset{i * (Threads / across), 0};
  }
  KOKKOS_FUNCTION static constexpr Offset rows_step(int i) { return {0, i * (Threads / Rows)}; }
  KOKKOS_FUNCTION static constexpr Offset block_step(int i) { return {i % passes * (Threads / 8), i / passes * 8}; }
  KOKKOS_FUNCTION static constexpr int to(Offset step) { return step.row * RowStep + step.k * KStep; }

  __device__ const T* source(Offset step) const { return from_ + step.row * row_stride_ + step.k * k_stride_; }

  __device__ void fetch_whole(Acc* tile) {
    if constexpr (has_vectors) {
      if (walk_ == Walk::vectors) {
#pragma unroll
        for (int i = 0; i < count / pack; ++i) copy_async<16>(tile + to(vector_step(i)), source(vector_step(i)));
        return;
      }
    }
    if (is_by_rows && walk_ == Walk::rows) {
#pragma unroll
      for (int i = 0; i < count; ++i) element(tile, source(rows_step(i)), rows_step(i), i);
    } else {
#pragma unroll
      for (int i = 0; i < count; ++i) element(tile, source(block_step(i)), block_step(i), i);
    }
  }
  __device__ void element(Acc* tile, const T* from, Offset step, int i) {
    if constexpr (is_async)
      copy_async<sizeof(T)>(tile + to(step), from);
    else
      held_[i] = *from;
  }

  /// The same at the edges of the matrix and of a leaf.
  __device__ void fetch_part(Acc* tile, int depth) {
    if constexpr (has_vectors) {
      if (walk_ == Walk::vectors) {
#pragma unroll 1
        for (int i = 0; i < count / pack; ++i) {
          const Offset step = vector_step(i);
          const int k = k_ + step.k, valid = is_by_rows ? pack : depth - k < pack ? depth - k : pack;
          if (k < depth) copy_async_part<16>(tile + to(step), inside(step), valid * static_cast<int>(sizeof(T)));
        }
        return;
      }
    }
    const bool by_rows = is_by_rows && walk_ == Walk::rows;
    if constexpr (is_async) {
#pragma unroll 1
      for (int i = 0; i < count; ++i) {
        const Offset step = by_rows ? rows_step(i) : block_step(i);
        if (k_ + step.k < depth) copy_async<sizeof(T)>(tile + to(step), inside(step));
      }
    } else {
#pragma unroll
      for (int i = 0; i < count; ++i) {
        const Offset step = by_rows ? rows_step(i) : block_step(i);
        if (k_ + step.k < depth) held_[i] = *inside(step);
      }
    }
  }
  /// The element's address, or one of the last row's.
  __device__ const T* inside(Offset step) const {
    const int row = row_ + step.row;
    return from_ + ((row < rows_ ? row : rows_ - 1) - row_) * row_stride_ + step.k * k_stride_;
  }

  const T* from_;  // the thread's first element of the next fetch
  std::int64_t row_stride_, k_stride_;
  int rows_, row_, k_;
  Walk walk_;
  T held_[is_async ? 1 : count];
};

}  // namespace invar::backends::cuda::gemm

#endif
