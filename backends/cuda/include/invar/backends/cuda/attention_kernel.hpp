// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The attention kernel: a block takes a tile of query rows of one KV head through its blocks of positions.
#ifndef INVAR_BACKENDS_CUDA_ATTENTION_KERNEL_HPP
#define INVAR_BACKENDS_CUDA_ATTENTION_KERNEL_HPP

#include <invar/backends/cuda/attention_outputs.hpp>
#include <invar/backends/cuda/attention_scores.hpp>

#include <cstdint>

namespace invar::backends::cuda::attn {

/// Half of the threads turn keys into probabilities, the other half weights values with them, a block of positions
/// behind. Scores are handed over in shared memory; each half fetches what it needs by itself.
template <class Contract, class Scalar, class K, class V, int Rows>
struct Kernel {
  using Shape = Tile<Contract, Scalar, K, V, Rows>;
  static constexpr int max_threads = Shape::threads;
  static constexpr int min_blocks = num::Symbolic<Scalar> || Rows >= 64 ? 1 : 2;

  Arguments<Scalar, K, V> a;

  __device__ void operator()() const {
    extern __shared__ __align__(16) unsigned char invar_attention_shared[];
    const std::int64_t columns = a.tiles * a.kv_heads;
    const auto split = static_cast<int>(blockIdx.x / columns);
    const auto kv_head = static_cast<int>(blockIdx.x % columns / a.tiles);
    // The last tiles see the most positions: they begin first.
    const std::int64_t tile = a.first_tile + a.tiles - 1 - blockIdx.x % a.tiles;
    const int first_head = static_cast<int>(tile % a.head_tiles) * a.tile_heads;
    const int heads = smaller(a.tile_heads, a.group - first_head);
    const std::int64_t begin = tile / a.head_tiles * a.tile_tokens;
    const std::int64_t end = begin + a.tile_tokens < a.tokens ? begin + a.tile_tokens : a.tokens;
    const int thread = static_cast<int>(threadIdx.x) % Shape::group;
    const bool for_scores = threadIdx.x < Shape::group;
    for (std::int64_t token = begin; token < end;) {
      if (token > begin) __syncthreads();
      const Part part = part_at(a, token, end);
      const Work<Scalar, K, V> work(a, part, token, kv_head, first_head, heads, split, Contract::split);
      if (work.begin < work.end) {
        if (for_scores)
          Scores<Shape, Scalar, K, V>(work, invar_attention_shared, thread).run();
        else
          Outputs<Shape, Scalar, K, V>(work, invar_attention_shared, thread).run();
      } else if (split == 0 && !for_scores) {
        Outputs<Shape, Scalar, K, V>(work, invar_attention_shared, thread).store_zeros();
      }
      token = part.end;
    }
  }
};

}  // namespace invar::backends::cuda::attn

#endif
