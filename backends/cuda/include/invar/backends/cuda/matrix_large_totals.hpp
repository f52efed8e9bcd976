// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What becomes of a tile's chains: totals over the leaves, and then words or stores.
#ifndef INVAR_BACKENDS_CUDA_MATRIX_LARGE_TOTALS_HPP
#define INVAR_BACKENDS_CUDA_MATRIX_LARGE_TOTALS_HPP

#include <invar/backends/cuda/matrix_large_boxes.hpp>
#include <invar/backends/cuda/matrix_large_store.hpp>

#include <cstdint>
#include <type_traits>

namespace invar::backends::cuda::gemm {

/// A thread's totals of a tile, which it holds in registers, or parks. Blocks of columns [Begin, End) at a time.
///
/// \tparam T      of c, where it is stored in pairs
/// \tparam Plain  as MatmulLarge has it: what is held at last are a tile's words
template <class T, class Shape, bool Plain>
struct LargeTotals {
  using Storer = std::conditional_t<Plain, LargeBoxes<T, Shape>, LargeStorer<T, Shape>>;
  static constexpr int block_values = Shape::block_values;

  // A packed tile goes to c a block at a time, with stages in between where there are as many: all at once, its copies
  // would hold up those that fill the ring, and the warpgroup would wait for its boxes.
  static constexpr int send_first = 2, send_apart = 2, send_last = send_first + send_apart * (Shape::blocks - 1);

  static __device__ void send_some(Storer& storer, const float (&held)[Shape::held], LargePosition at, int stage,
                                   bool& is_packed) {
    if constexpr (Plain && Shape::spreads) {
      if (!is_packed) return;
#pragma unroll
      for (int block = 0; block < Shape::blocks; ++block)
        if (stage == send_first + send_apart * block) storer.send_block(held, at.row, at.column, block);
      is_packed = stage < send_last;
    }
  }
  /// The whole tile, where the next leaf has too few stages.
  static __device__ void send_short(Storer& storer, const float (&held)[Shape::held], LargePosition at, int stages,
                                    bool& is_packed) {
    if constexpr (Plain) {
      if (!is_packed || (Shape::spreads && stages > send_last)) return;
      storer.send_tile(held, at.row, at.column);
      is_packed = false;
    }
  }

  /// Totals of −0, to which the only leaf is added.
  template <int Begin, int End>
  static __device__ void clear_totals(float (&held)[Shape::held], const Storer& storer) {
    if constexpr (Begin < Shape::parked) storer.wait_boxes_read();
#pragma unroll
    for (int block = Begin; block < End; ++block) {
#pragma unroll
      for (int v = 0; v < Shape::held_values(block); ++v) held[Shape::held_at(block, v)] = -0.0f;
#pragma unroll
      for (int v = Shape::held_values(block); v < block_values; v += 4)
        storer.park(block, (v - block_values / 2) / 4, {-0.0f, -0.0f, -0.0f, -0.0f});
    }
  }

  /// The totals after the first leaf: −0 + x is x.
  template <int Begin, int End>
  static __device__ void begin_totals(float (&held)[Shape::held], const float (&chain)[(End - Begin) * block_values],
                                      const Storer& storer) {
    if constexpr (Begin < Shape::parked) storer.wait_boxes_read();
#pragma unroll
    for (int block = Begin; block < End; ++block) {
      const float* const from = chain + (block - Begin) * block_values;
#pragma unroll
      for (int v = 0; v < Shape::held_values(block); ++v)
        asm volatile("mov.f32 %0, %1;" : "=f"(held[Shape::held_at(block, v)]) : "f"(from[v]));  // see MatmulLargeSplit
#pragma unroll
      for (int v = Shape::held_values(block); v < block_values; v += 4)
        storer.park(block, (v - block_values / 2) / 4, {from[v], from[v + 1], from[v + 2], from[v + 3]});
    }
  }

  /// Adds chains to their totals.
  template <int Begin, int End>
  static __device__ void fold(float (&held)[Shape::held], const float (&chain)[(End - Begin) * block_values],
                              const Storer& storer) {
#pragma unroll
    for (int block = Begin; block < End; ++block) {
      float sums[block_values];
      join(sums, held, chain + (block - Begin) * block_values, storer, block);
#pragma unroll
      for (int v = 0; v < Shape::held_values(block); ++v) held[Shape::held_at(block, v)] = sums[v];
#pragma unroll
      for (int v = Shape::held_values(block); v < block_values; v += 4)
        storer.park(block, (v - block_values / 2) / 4, {sums[v], sums[v + 1], sums[v + 2], sums[v + 3]});
    }
  }

  /// The sums of a block of columns: the last chains added to their totals.
  static __device__ void join(float (&sums)[block_values], const float (&held)[Shape::held], const float* from,
                              const Storer& storer, int block) {
#pragma unroll
    for (int v = 0; v < Shape::held_values(block); ++v) sums[v] = num::add(held[Shape::held_at(block, v)], from[v]);
#pragma unroll
    for (int v = Shape::held_values(block); v < block_values; v += 4) {
      storer.unpark(reinterpret_cast<float(&)[4]>(sums[v]), block, (v - block_values / 2) / 4);
#pragma unroll
      for (int i = v; i < v + 4; ++i) sums[i] = num::add(sums[i], from[i]);
    }
  }

  template <int Begin, int End>
  static __device__ void pack(float (&held)[Shape::held], const float (&chain)[(End - Begin) * block_values],
                              const Storer& storer) {
    std::uint32_t words[(End - Begin) * block_values / 2];
#pragma unroll
    for (int block = Begin; block < End; ++block) {
      float sums[block_values];
      join(sums, held, chain + (block - Begin) * block_values, storer, block);
#pragma unroll
      for (int v = 0; v < block_values; v += 2)
        words[((block - Begin) * block_values + v) / 2] = rounded_pair<T>(sums[v], sums[v + 1]);
    }
    Storer::make_canonical(words);
#pragma unroll
    for (int i = 0; i < (End - Begin) * block_values / 2; ++i)
      held[Begin * block_values / 2 + i] = num::from_bits<float>(words[i]);
  }

  template <int Begin, int End>
  static __device__ void store(const float (&held)[Shape::held], const float (&chain)[(End - Begin) * block_values],
                               Storer& storer, LargePosition at) {
    if constexpr (Begin == 0) {
      storer.fetch_bias(at.column);
      storer.await_bias();
    }
#pragma unroll
    for (int block = Begin; block < End; ++block) {
      float sums[block_values];
      join(sums, held, chain + (block - Begin) * block_values, storer, block);
      storer.store(sums, at.row, at.column + block * Shape::block, block * Shape::block);
    }
  }
};

}  // namespace invar::backends::cuda::gemm

#endif
