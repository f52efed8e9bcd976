// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The second kernel of attention where the splits of a row were computed apart: it folds them in ascending order.
#ifndef INVAR_BACKENDS_CUDA_ATTENTION_FOLD_HPP
#define INVAR_BACKENDS_CUDA_ATTENTION_FOLD_HPP

#include <invar/backends/cuda/attention_arguments.hpp>
#include <invar/backends/cuda/attention_rows.hpp>

#include <cstdint>

namespace invar::backends::cuda::attn {

/// A block takes a token and query head, a thread a column at a time.
template <class Contract, class Scalar, class K, class V>
struct FoldKernel {
  static constexpr int max_threads = 128;
  static constexpr int min_blocks = 1;

  Arguments<Scalar, K, V> a;

  __device__ void operator()() const {
    const int heads = a.kv_heads * a.group;
    const std::int64_t row = blockIdx.x;
    const std::int64_t token = a.first_token + row / heads;
    const Part part = part_at(a, token, token + 1);
    const int visible = part.visible(0);
    if (visible <= Contract::split) return;  // its only block has stored it
    const int splits = (visible + Contract::split - 1) / Contract::split;
    const Scalar* const sums = a.sums + row * a.splits * 2;
    const Scalar* const partial = a.partial + row * a.splits * a.value_dim;
    const std::int64_t out = a.out.offset(token, static_cast<int>(row % heads));
    const int last_warp = (a.value_dim + 31) / 32 * 32;
    for (int d = static_cast<int>(threadIdx.x); d < last_warp; d += max_threads) {
      const bool exists = d < a.value_dim;
      const Scalar result = column(sums, partial + (exists ? d : 0), splits);
      if (exists) store_narrowed(a.out, out + d * a.out.stride[2], result);
    }
  }

 private:
  /// The whole warp calls. The maximum after each split is a prefix of maxima, which any tree gives, so the lanes work
  /// out the factors of 32 splits side by side; the chains of sums and outputs are then short.
  __device__ __forceinline__ Scalar column(const Scalar* sums, const Scalar* partial, int splits) const {
    constexpr int ahead = num::Symbolic<Scalar> ? 1 : 8;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    Scalar before(-HUGE_VALF);
    Scalar sum(0), value(0);
    for (int first = 0; first < splits; first += 32) {
      const bool exists = first + lane < splits;
      const Scalar max = exists ? sums[2 * (first + lane)] : Scalar(-HUGE_VALF);
      const Scalar part = exists ? sums[2 * (first + lane) + 1] : Scalar(0);
      Scalar prefix = max;
#pragma unroll
      for (int distance = 1; distance < 32; distance *= 2) {
        const Scalar below = from_below(prefix, distance);
        if (lane >= distance) prefix = maximum(prefix, below);
      }
      const Scalar next = maximum(before, prefix);
      const Scalar below = from_below(next, 1);
      const FoldFactors<Scalar> mine = fold_factors(lane == 0 ? before : below, max, next);
      before = from_lane(next, 31);
      const int here = smaller(32, splits - first);
      for (int i = 0; i < here; i += ahead) {
        Scalar split[ahead];
#pragma unroll
        for (int k = 0; k < ahead; ++k)
          if (i + k < here) split[k] = partial[std::int64_t{first + i + k} * a.value_dim];
#pragma unroll
        for (int k = 0; k < ahead; ++k) {
          const FoldFactors<Scalar> factors{from_lane(mine.total, i + k), from_lane(mine.split, i + k)};
          const Scalar split_sum = from_lane(part, i + k);
          if (i + k >= here) continue;
          const bool starts = first + i + k == 0;
          sum = starts ? split_sum : fold(sum, split_sum, factors);
          value = starts ? split[k] : fold(value, split[k], factors);
        }
      }
    }
    return num::mul_unfenced(value, num::reciprocal_or_zero(sum));
  }
};

}  // namespace invar::backends::cuda::attn

#endif
