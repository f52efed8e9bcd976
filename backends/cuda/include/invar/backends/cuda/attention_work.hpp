// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What a block of the attention kernel has to do for one part of its tile, and how its two groups of threads meet.
#ifndef INVAR_BACKENDS_CUDA_ATTENTION_WORK_HPP
#define INVAR_BACKENDS_CUDA_ATTENTION_WORK_HPP

#include <invar/backends/cuda/attention_arguments.hpp>
#include <invar/backends/cuda/attention_tile.hpp>
#include <invar/num/arithmetic.hpp>

#include <cstdint>

namespace invar::backends::cuda::attn {

/// The rows of a tile that belong to one request (or to none), and the positions that a block takes of it.
template <class Scalar, class K, class V>
struct Work {
  const Arguments<Scalar, K, V>& a;
  Part part;
  std::int64_t token;              ///< the first
  int kv_head, first_head, heads;  ///< query heads first_head … first_head + heads − 1 of the KV head's group
  int split;                       ///< the only one that the block takes, where the splits are apart
  int tokens, rows;
  int begin, end;  ///< positions

  __device__ __forceinline__ Work(const Arguments<Scalar, K, V>& a, const Part& part, std::int64_t token, int kv_head,
                                  int first_head, int heads, int split, int split_size)
      : a(a),
        part(part),
        token(token),
        kv_head(kv_head),
        first_head(first_head),
        heads(heads),
        split(split),
        tokens(static_cast<int>(part.end - token)),
        rows(tokens * heads),
        begin(0),
        end(part.visible(tokens - 1)) {
    if (a.splits > 0) {
      begin = split * split_size;
      end = smaller(end, begin + split_size);
    }
  }

  __device__ __forceinline__ std::int64_t token_of(int row) const { return token + row / heads; }
  __device__ __forceinline__ int head_of(int row) const { return kv_head * a.group + first_head + row % heads; }
  __device__ __forceinline__ int visible(int row) const { return part.visible(row / heads); }
  __device__ __forceinline__ std::int64_t out_at(int row) const { return a.out.offset(token_of(row), head_of(row)); }

  /// The place of a row's split among the partial results of the launch.
  __device__ __forceinline__ std::int64_t partial_at(int row) const {
    return ((token_of(row) - a.first_token) * a.kv_heads * a.group + head_of(row)) * a.splits + split;
  }
};

// Named barriers: one for each group alone, and one where the two meet.
inline constexpr int key_barrier = 1;
inline constexpr int value_barrier = 2;
inline constexpr int meeting_barrier = 3;

__device__ __forceinline__ void barrier_sync(int barrier, int threads) {
  asm volatile("barrier.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
template <class Shape>
__device__ __forceinline__ void sync_group(int barrier) {
  barrier_sync(barrier, Shape::group);
}

/// Hands a block's probabilities over, once for each block: they are complete, and those of the block before are used,
/// so that their place is free for the block after. Neither group waits for more than it needs: without this block's
/// probabilities no outputs can follow, and without that place no scores.
template <class Shape>
__device__ __forceinline__ void meet() {
  barrier_sync(meeting_barrier, Shape::threads);
  // Once would do. But racecheck takes a warp that waits here for one that has passed, and calls what the other group
  // does meanwhile a race with what this one does next; it knows better where both have to come twice.
  barrier_sync(meeting_barrier, Shape::threads);
}

/// fma, out of line for symbolic scalars: unrolled, their hashes would be more code than a compiler likes.
template <num::Symbolic T>
__device__ __noinline__ T chain_step_symbolic(T a, T b, T c) {
  return num::fma(a, b, c);
}
template <class T>
__device__ __forceinline__ T chain_step(T a, T b, T c) {
  if constexpr (num::Symbolic<T>)
    return chain_step_symbolic(a, b, c);
  else
    return num::fma(a, b, c);
}

}  // namespace invar::backends::cuda::attn

#endif
