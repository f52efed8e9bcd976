// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The shape of a tile of attention: who computes which score and which output, and what lies where in shared memory.
#ifndef INVAR_BACKENDS_CUDA_ATTENTION_TILE_HPP
#define INVAR_BACKENDS_CUDA_ATTENTION_TILE_HPP

#include <invar/num/symbolic.hpp>

#include <cstddef>
#include <cstdint>

namespace invar::backends::cuda::attn {

__host__ __device__ constexpr int smaller(int a, int b) { return a < b ? a : b; }
__host__ __device__ constexpr int larger(int a, int b) { return a > b ? a : b; }

/// Rows × Places values, spread over a group of threads. A thread has M rows and P places, `down` and `across` apart,
/// so that the lanes of a warp, Lanes of them along the places, touch neighbouring rows and places.
template <int Rows, int Places, int M, int P, int Lanes, int Threads>
struct Grid {
  static constexpr int rows = M, places = P;  // of a thread
  static constexpr int down = Rows / M;       // threads along the rows
  static constexpr int across = Places / P;   // threads along the places
  static constexpr int lanes_across = across < Lanes ? across : Lanes;
  static constexpr int lanes_down = 32 / lanes_across;
  static_assert(down * M == Rows && across * P == Places && across % lanes_across == 0);
  static_assert(down * across <= Threads && Threads % 32 == 0);

  int row, place;  // the first of each

  __device__ __forceinline__ explicit Grid(int thread) {
    const int lane = thread % 32;
    const int warp = thread / 32;
    constexpr int warps_across = across / lanes_across;
    row = warp / warps_across * lanes_down + lane / lanes_across;
    place = warp % warps_across * lanes_across + lane % lanes_across;
  }
  __device__ __forceinline__ bool works() const { return row < down; }
};

/// \tparam Rows  query rows that share a pass over K and V
template <class Contract, class Scalar, class K, class V, int Rows>
struct Tile {
  static constexpr int rows = Rows;
  static constexpr int block = Contract::block;
  static constexpr int split = Contract::split;
  static constexpr int group = Rows >= 64 ? 256 : 128;  // threads that compute scores, and as many for outputs
  static constexpr int threads = 2 * group;
  static constexpr int panel = smaller(block, 128);  // positions whose scores are computed at a time

  // Scores: rows × positions of a panel.
  static constexpr int scores = larger(1, Rows* panel / group);
  static constexpr int positions = scores >= 16 ? 4 : scores >= 8 ? 2 : 1;
  using ScoreGrid = Grid<Rows, panel, scores / positions, positions, 32 / positions, group>;

  // Outputs: rows × vectors of neighbouring columns, in passes over `columns` of them.
  static constexpr bool narrow = sizeof(V) == 2;  // a pair of them is read as one word
  static constexpr int pass_rows = Rows >= 64 ? 8 : Rows >= 8 || !narrow ? 4 : 2;
  static constexpr int vector = Rows >= 16 ? 4 : Rows >= 8 || narrow ? 2 : 1;
  static constexpr int columns = group * pass_rows / Rows * vector;
  static constexpr int passes = Rows >= 64 ? 1 : 256 / columns;  // 64 rows of more columns would not fit into registers
  static constexpr int max_value_dim = passes * columns;
  static constexpr int outputs = passes * pass_rows * vector;  // of a thread
  using OutputGrid = Grid<Rows, columns / vector, pass_rows, 1, 32 / vector, group>;

  // The rings. A stage of keys is 128 bytes of each position of a panel, a stage of values as many whole rows as fit.
  static constexpr int stage_bytes = 16384;
  static constexpr int key_stages = Rows >= 64 ? 2 : 3;
  static constexpr int value_stages = Rows >= 8 ? 2 : 3;
  static constexpr int key_bytes = 128;
  static constexpr int key_width = key_bytes / static_cast<int>(sizeof(K));
  static_assert(panel * key_bytes <= stage_bytes);

  __host__ __device__ static int value_pitch(int value_dim) {
    constexpr int bytes = vector * static_cast<int>(sizeof(V));
    constexpr int unit = bytes < 16 ? 16 : bytes;
    return (value_dim * static_cast<int>(sizeof(V)) + unit - 1) / unit * unit;
  }
  /// Positions of a stage of values: a power of two.
  __host__ __device__ static int value_rows(int value_dim) {
    int rows = panel;
    while (rows * value_pitch(value_dim) > stage_bytes) rows /= 2;
    return rows;
  }

  // Rows of scores; two blocks of them, one being written and one being read. The pitch keeps lanes that read
  // neighbouring rows off each other's banks.
  static constexpr int score_pitch = block + 8;
  static constexpr int classes = block / 8;
  static constexpr int row_values = 11;  // RowStates' values
  /// Lanes that share a row of probabilities: 8, one for each position mod 8, times the 32 positions taken at a time.
  static constexpr int row_lanes = 8 * larger(1, smaller(4, 16 / Rows));

  /// Queries are kept as [head_dim / 4, rows, 4].
  __host__ __device__ static int query_size(int head_dim) { return (head_dim + 3) / 4 * 4 * Rows; }
  __device__ __forceinline__ static int query_at(int row, int d) { return d / 4 * 4 * Rows + row * 4 + d % 4; }

  // Shared memory in bytes from its begin; the queries are last.
  static constexpr int values_at = key_stages * stage_bytes;
  static constexpr int key_offsets_at = values_at + value_stages * stage_bytes;
  static constexpr int value_offsets_at = key_offsets_at + 2 * panel * 8;
  static constexpr int scores_at = value_offsets_at + 2 * panel * 8;
  static constexpr int classes_at = scores_at + 2 * Rows * score_pitch * static_cast<int>(sizeof(Scalar));
  static constexpr int row_values_at = classes_at + Rows * classes * static_cast<int>(sizeof(Scalar));
  static constexpr int queries_at = row_values_at + (Rows * row_values + 3) / 4 * 4 * static_cast<int>(sizeof(Scalar));
  static std::size_t shared_bytes(int head_dim) {
    return queries_at + static_cast<std::size_t>(query_size(head_dim)) * sizeof(Scalar);
  }
};

}  // namespace invar::backends::cuda::attn

#endif
