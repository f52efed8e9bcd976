// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Steps 2, 3, 5 and 6 of contract::Attention for the rows of a tile, on shared memory.
#ifndef INVAR_BACKENDS_CUDA_ATTENTION_ROWS_HPP
#define INVAR_BACKENDS_CUDA_ATTENTION_ROWS_HPP

#include <invar/backends/cuda/attention_tile.hpp>
#include <invar/num/arithmetic.hpp>
#include <invar/num/exp2.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace invar::backends::cuda::attn {

/// What exchange(word) makes of a value of 4 or 8 bytes.
template <class T, class Exchange>
__device__ __forceinline__ T exchanged(T x, const Exchange& exchange) {
  std::conditional_t<sizeof(T) == 4, unsigned, unsigned long long> word;
  std::memcpy(&word, &x, sizeof(T));
  word = exchange(word);
  std::memcpy(&x, &word, sizeof(T));
  return x;
}

/// The value of lane (this lane xor distance), of a given lane, of the lane `distance` below; the whole warp calls.
template <class T>
__device__ __forceinline__ T across(T x, int distance) {
  return exchanged(x, [&](auto word) { return __shfl_xor_sync(0xffffffffu, word, distance); });
}
template <class T>
__device__ __forceinline__ T from_lane(T x, int lane) {
  return exchanged(x, [&](auto word) { return __shfl_sync(0xffffffffu, word, lane); });
}
template <class T>
__device__ __forceinline__ T from_below(T x, int distance) {
  return exchanged(x, [&](auto word) { return __shfl_up_sync(0xffffffffu, word, distance); });
}

/// num::max in one instruction. It makes NaN canonical in its own way, which no result shows.
__device__ __forceinline__ float maximum(float a, float b) {
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
}
template <num::Symbolic T>
__device__ __forceinline__ T maximum(T a, T b) {
  return num::max(a, b);
}

/// The factors of a fold: the total's and the split's.
template <class Scalar>
struct FoldFactors {
  Scalar total, split;
};

/// Those where the maximum goes from `total_max` to `next` because of a split's `max`.
template <class Scalar>
__device__ __forceinline__ FoldFactors<Scalar> fold_factors(Scalar total_max, Scalar max, Scalar next) {
  const Scalar shift = num::finite_or_zero(next);
  return {num::exp2(num::sub(total_max, shift)), num::exp2(num::sub(max, shift))};
}

/// Step 6 for the sum, or for an element of the output.
template <class Scalar>
__device__ __forceinline__ Scalar fold(Scalar total, Scalar split, const FoldFactors<Scalar>& factors) {
  return num::fma(split, factors.split, num::mul(total, factors.total));
}

/// What is kept of each row, for those who compute scores alone.
enum RowValue { row_max, row_total_max, row_total_sum };
/// What is handed over with a block's probabilities, so twice.
enum HandedValue { row_alpha, row_fold_total, row_fold_split, row_factor };

template <class Shape, class Scalar>
struct RowStates {
  static constexpr int block = Shape::block;
  static constexpr int parts = block / 32;

  Scalar* scores;   ///< [rows, Shape::score_pitch]; probabilities after a step
  Scalar* classes;  ///< [rows, Shape::classes]
  Scalar* values;   ///< [RowValue, rows]
  Scalar* handed;   ///< [HandedValue, rows]

  /// \param parity  of the block
  __device__ __forceinline__ RowStates(unsigned char* shared, int parity)
      : scores(reinterpret_cast<Scalar*>(shared + Shape::scores_at) + parity * Shape::rows * Shape::score_pitch),
        classes(reinterpret_cast<Scalar*>(shared + Shape::classes_at)),
        values(reinterpret_cast<Scalar*>(shared + Shape::row_values_at)),
        handed(values + (3 + 4 * parity) * Shape::rows) {}

  __device__ __forceinline__ Scalar& value(RowValue name, int row) const { return values[name * Shape::rows + row]; }
  __device__ __forceinline__ Scalar& value(HandedValue name, int row) const { return handed[name * Shape::rows + row]; }

  /// Steps 2 and 3 for a block of which the first `seen` positions count; nothing where seen <= 0. The whole warp
  /// calls, row_lanes lanes for each row: lane i of them has positions i mod 8 of every row_lanes / 8-th 32 of the
  /// block, so that a class's chains are its own.
  __device__ __forceinline__ void step(int row, int seen, Scalar scale, bool first_of_split) const {
    constexpr int apart = Shape::row_lanes / 8;
    constexpr int mine = (parts + apart - 1) / apart;
    constexpr int unroll = num::Symbolic<Scalar> || mine > 8 ? 1 : mine;
    const int lane = static_cast<int>(threadIdx.x) % Shape::row_lanes;
    const int u0 = lane / 8;
    Scalar* const score = scores + row * Shape::score_pitch + lane % 8;
    const int left = seen - lane % 8;
    Scalar highest(-HUGE_VALF);
#pragma unroll unroll
    for (int u = u0; u < parts; u += apart)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        if (32 * u + 8 * i < left) highest = maximum(highest, score[32 * u + 8 * i]);
#pragma unroll
    for (int distance = Shape::row_lanes / 2; distance > 0; distance /= 2)
      highest = maximum(highest, across(highest, distance));
    const Scalar max = first_of_split ? Scalar(-HUGE_VALF) : value(row_max, row);
    const Scalar next = maximum(max, num::mul(scale, highest));
    const Scalar shift = num::finite_or_zero(next);
    const Scalar alpha = num::exp2(num::sub(max, shift));
    const Scalar minus_shift = num::negate(shift);
#pragma unroll unroll
    for (int k = 0; k < mine; ++k) {
      const int u = u0 + k * apart;
      // −0 is the exact identity of addition: what is not visible changes no sum.
      Scalar chain(-0.0);
#pragma unroll
      for (int i = 0; i < 4; ++i)
        if (u < parts && 32 * u + 8 * i < left) {
          const Scalar p = num::exp2(num::fma(scale, score[32 * u + 8 * i], minus_shift));
          chain = num::add(chain, p);
          score[32 * u + 8 * i] = p;
        }
      const Scalar sum = num::add(chain, across(chain, 1));
      if (seen > 0 && u < parts && lane % 2 == 0) {
        Scalar& total = classes[row * Shape::classes + 4 * u + lane % 8 / 2];
        total = num::fma(first_of_split ? Scalar(0) : total, alpha, sum);
      }
    }
    __syncwarp();
    if (seen > 0 && lane == 0) {
      value(row_max, row) = next;
      value(row_alpha, row) = alpha;
    }
  }

  /// Steps 5 and 6 for maximum and sum of a finished split, and 1/l as it would be if this split were the last one.
  /// The whole warp calls.
  ///
  /// \param seen   visible positions; where the row sees none of this split, its sums stay; nothing at all where 0
  /// \param begin  the split's first position
  /// \param first  it is the first split that this block takes
  __device__ __forceinline__ void end_split(int row, int seen, int begin, bool first) const {
    const bool takes_part = seen > begin;
    const int lane = static_cast<int>(threadIdx.x) % Shape::row_lanes;
    Scalar* const sum = classes + row * Shape::classes;
    __syncwarp();
    if (takes_part)
      for (int u = lane; u < parts; u += Shape::row_lanes)
        sum[4 * u] = num::add(num::add(sum[4 * u], sum[4 * u + 1]), num::add(sum[4 * u + 2], sum[4 * u + 3]));
    for (int stride = 1; stride < parts; stride *= 2) {
      __syncwarp();
      if (takes_part)
        for (int u = lane * 2 * stride; u < parts; u += Shape::row_lanes * 2 * stride)
          sum[4 * u] = num::add(sum[4 * u], sum[4 * (u + stride)]);
    }
    __syncwarp();
    if (lane != 0 || seen <= 0) return;
    if (takes_part && first) {
      value(row_total_max, row) = value(row_max, row);
      value(row_total_sum, row) = sum[0];
    } else if (takes_part) {
      const Scalar next = maximum(value(row_total_max, row), value(row_max, row));
      const auto factors = fold_factors(value(row_total_max, row), value(row_max, row), next);
      value(row_total_max, row) = next;
      value(row_total_sum, row) = fold(value(row_total_sum, row), sum[0], factors);
      value(row_fold_total, row) = factors.total;
      value(row_fold_split, row) = factors.split;
    }
    // A row that ended in an earlier split needs it too.
    value(row_factor, row) = num::reciprocal_or_zero(value(row_total_sum, row));
  }
};

}  // namespace invar::backends::cuda::attn

#endif
