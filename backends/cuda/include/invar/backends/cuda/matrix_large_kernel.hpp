// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The CUDA kernel of matmul on Hopper's matrix unit for many rows of a.
#ifndef INVAR_BACKENDS_CUDA_MATRIX_LARGE_KERNEL_HPP
#define INVAR_BACKENDS_CUDA_MATRIX_LARGE_KERNEL_HPP

#include <invar/backends/cuda/matrix_large_feed.hpp>
#include <invar/backends/cuda/matrix_large_halves.hpp>
#include <invar/backends/cuda/matrix_large_products.hpp>
#include <invar/backends/cuda/matrix_large_store.hpp>

#include <cstdint>
#include <type_traits>

namespace invar::backends::cuda::gemm {

/// The kernel. Blocks stay and take tile after tile. One warp feeds a ring of stages by TMA; the warpgroups of Shape
/// multiply, each 64 rows of the tile.
///
/// \tparam Plain  c is of LargePacked, TMA can take it, and there is no epilogue: a tile is rounded in registers, and
///                stored while the next one's first products are under way. What a small problem pays for most is code
///                that runs once, since it must be fetched from memory; so this kernel has no other code
template <class A, class B, Major MajorB, class Shape, bool Plain>
struct MatmulLarge {
  static constexpr int max_threads = Shape::threads, min_blocks = 1;
  using waits_itself = void;

  CUtensorMap a, b;
  LargeOutput output;
  int k;
  int leaf_stages;  ///< stages of a leaf
  LargeOrder order;
  unsigned tiles;

  __device__ void operator()() const {
    if constexpr (!has_wgmma()) {
      // By its static shared memory the host knows what this code is: see has_large_code().
      __shared__ volatile int lacks_wgmma;
      lacks_wgmma = 1;
      __trap();
    } else {
      extern __shared__ __align__(1024) unsigned char matrix_large_shared[];
      const std::uint32_t shared = shared_address(matrix_large_shared);
      const int warp = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / 32, 0);
      const Ring ring(opaque(shared + Shape::ring_offset()));
      if (warp >= 4 * Shape::groups) {
        LargeFeed<MajorB, Shape>::begin_block(ring, shared, a, b, warp == 4 * Shape::groups);
        if constexpr (Shape::groups > 1) leave_registers<24>();
        if (warp == 4 * Shape::groups) feed(ring, shared);
      } else {
        LargeFeed<MajorB, Shape>::await_begin();
        if constexpr (Shape::groups > 1) claim_registers<240>();
        if constexpr (Shape::halves)
          multiply_halves(ring, matrix_large_shared, warp / 4);
        else
          multiply(ring, matrix_large_shared, warp / 4);
      }
    }
  }

 private:
  using Ring = typename Shape::Ring;
  using Packed = LargePacked<A>;
  using Storer = std::conditional_t<Plain, LargeBoxes<Packed, Shape>, LargeStorer<Packed, Shape>>;
  static constexpr int values = Shape::columns / 2, block_values = Shape::block_values;

  __device__ LargePosition position(unsigned tile) const { return order.template position<Shape>(tile); }

  __device__ void feed(Ring ring, std::uint32_t shared) const {
    const bool acts = is_elected();
#pragma unroll 1
    for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
      const LargePosition at = position(tile);
#pragma unroll 1
      for (int k0 = 0; k0 < k; k0 += Shape::depth) LargeFeed<MajorB, Shape>::fill(ring, shared, a, b, at, k0, acts);
    }
  }

  /// A pass of the loop is a leaf, so that every piece of code is there once.
  __device__ void multiply(Ring ring, const unsigned char* shared, int group) const {
    const int stages = (k + Shape::depth - 1) / Shape::depth;
    LargeProducts<A, B, MajorB, Shape> products(ring, shared, group, stages);
    Storer storer(output, shared_address(shared), group);

    // Between tiles, what is held is the words of the tile before.
    float chain[values], held[Shape::held];
    LargePosition before{};
    bool is_packed = false;
    unsigned tile = blockIdx.x;
    int left = stages;  // of the tile
    leave_undefined(chain);
    leave_undefined(held);
#pragma unroll 1
    for (;;) {
      const bool is_first = left == stages;
      int count = left < leaf_stages ? left : leaf_stages;
      if (tile >= tiles)
        count = 0;
      else if (is_first)
        products.begin_tile();
      products.begin(chain, count, is_first && count > 0);
      send_short(storer, held, before, count, is_packed);
      if (count == 0) break;
      products.complete(chain, count, [&](int stage) { send_some(storer, held, before, stage, is_packed); });
      left -= count;
      if (left > 0) {
        if (is_first)
          begin_totals<0, Shape::blocks>(held, chain, storer);
        else
          fold<0, Shape::blocks>(held, chain, storer);
        continue;
      }
      if (is_first) clear_totals<0, Shape::blocks>(held, storer);
      before = position(tile);
      before.row += group * 64;
      if constexpr (Plain) {
        pack<0, Shape::blocks>(held, chain, storer);
        is_packed = true;
      } else {
        store<0, Shape::blocks>(held, chain, storer, before);
      }
      tile += gridDim.x;
      left = stages;
    }
    products.end();
    storer.finish();
  }

  /// The same with the columns in two halves, of which one is folded while the other is multiplied.
  __device__ void multiply_halves(Ring ring, const unsigned char* shared, int group) const {
    const int stages = (k + Shape::depth - 1) / Shape::depth;
    using Products = LargeHalves<A, B, MajorB, Shape>;
    Products products(ring, shared, group);
    Storer storer(output, shared_address(shared), group);

    typename Products::Chains chains;
    float held[Shape::held];
    LargePosition before{};
    bool is_packed = false;
    unsigned tile = blockIdx.x;
    int left = stages;
    leave_undefined(chains[0]);
    leave_undefined(chains[1]);
    leave_undefined(held);
    int count = tile < tiles ? (left < leaf_stages ? left : leaf_stages) : 0;
    products.begin(chains, count);
#pragma unroll 1
    for (;;) {
      send_short(storer, held, before, count, is_packed);
      if (count == 0) break;
      products.run(chains, count, [&](int stage) { send_some(storer, held, before, stage, is_packed); });
      const int done = count;
      const bool is_first = left == stages;
      left -= done;
      const bool is_last = left == 0;
      if (is_last) {
        before = position(tile);
        before.row += group * 64;
        tile += gridDim.x;
        left = stages;
      }
      count = tile < tiles ? (left < leaf_stages ? left : leaf_stages) : 0;
      products.turn(chains, done, count, [&](auto half) {
        constexpr int begin = half.value * Shape::blocks / 2, end = begin + Shape::blocks / 2;
        if (!is_last) {
          if (is_first)
            begin_totals<begin, end>(held, chains[half.value], storer);
          else
            fold<begin, end>(held, chains[half.value], storer);
          return;
        }
        if (is_first) clear_totals<begin, end>(held, storer);
        if constexpr (Plain)
          pack<begin, end>(held, chains[half.value], storer);
        else
          store<begin, end>(held, chains[half.value], storer, before);
      });
      is_packed = Plain && is_last;
    }
    storer.finish();
  }

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
        words[((block - Begin) * block_values + v) / 2] = rounded_pair<Packed>(sums[v], sums[v + 1]);
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
