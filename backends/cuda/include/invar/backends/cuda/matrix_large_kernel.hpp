// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The CUDA kernel of matmul on Hopper's matrix unit for many rows of a.
#ifndef INVAR_BACKENDS_CUDA_MATRIX_LARGE_KERNEL_HPP
#define INVAR_BACKENDS_CUDA_MATRIX_LARGE_KERNEL_HPP

#include <invar/backends/cuda/matrix_large_feed.hpp>
#include <invar/backends/cuda/matrix_large_halves.hpp>
#include <invar/backends/cuda/matrix_large_products.hpp>
#include <invar/backends/cuda/matrix_large_totals.hpp>

#include <cstdint>

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
  unsigned tiles;           ///< that blocks compute whole
  unsigned half_tiles = 0;  ///< after them, of Shape::halves: at most one a block

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

  __device__ LargePosition position(unsigned tile) const { return order.template position<Shape>(tile); }
  /// Of a half tile.
  __device__ LargePosition half_position(unsigned index) const {
    LargePosition at = position(tiles + index / 2);
    at.column += static_cast<int>(index % 2) * (Shape::columns / 2);
    return at;
  }

  __device__ void feed(Ring ring, std::uint32_t shared) const {
    const bool acts = is_elected();
#pragma unroll 1
    for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x)
      feed_tile<Shape>(ring, shared, position(tile), acts);
    if constexpr (Shape::halves) {
      if (blockIdx.x >= half_tiles) return;
      // A stage of no meaning comes before: the last whole tile's end begins products as if another such tile followed.
      using Half = LargeHalfTile<Shape>;
      const LargePosition at = half_position(blockIdx.x);
      LargeFeed<MajorB, Half>::fill(ring, shared, a, b, at, 0, acts);
      feed_tile<Half>(ring, shared, at, acts);
    }
  }
  template <class Tile>
  __device__ void feed_tile(Ring& ring, std::uint32_t shared, LargePosition at, bool acts) const {
#pragma unroll 1
    for (int k0 = 0; k0 < k; k0 += Shape::depth) LargeFeed<MajorB, Tile>::fill(ring, shared, a, b, at, k0, acts);
  }

  /// A pass of the loop is a leaf, so that every piece of code is there once.
  __device__ void multiply(Ring ring, const unsigned char* shared, int group) const {
    const int stages = (k + Shape::depth - 1) / Shape::depth;
    using Totals = LargeTotals<Packed, Shape, Plain>;
    LargeProducts<A, B, MajorB, Shape> products(ring, shared, group, stages);
    typename Totals::Storer storer(output, shared_address(shared), group);

    // Between tiles, what is held is the words of the tile before.
    float chain[Shape::columns / 2], held[Shape::held];
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
      Totals::send_short(storer, held, before, count, is_packed);
      if (count == 0) break;
      products.complete(chain, count, [&](int stage) { Totals::send_some(storer, held, before, stage, is_packed); });
      left -= count;
      if (left > 0) {
        if (is_first)
          Totals::template begin_totals<0, Shape::blocks>(held, chain, storer);
        else
          Totals::template fold<0, Shape::blocks>(held, chain, storer);
        continue;
      }
      if (is_first) Totals::template clear_totals<0, Shape::blocks>(held, storer);
      before = position(tile);
      before.row += group * 64;
      if constexpr (Plain) {
        Totals::template pack<0, Shape::blocks>(held, chain, storer);
        is_packed = true;
      } else {
        Totals::template store<0, Shape::blocks>(held, chain, storer, before);
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
    using Totals = LargeTotals<Packed, Shape, Plain>;
    Products products(ring, shared, group);
    typename Totals::Storer storer(output, shared_address(shared), group);

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
      Totals::send_short(storer, held, before, count, is_packed);
      if (count == 0) break;
      products.run(chains, count, [&](int stage) { Totals::send_some(storer, held, before, stage, is_packed); });
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
      products.turn(chains, done, count > 0 || blockIdx.x < half_tiles, [&](auto half) {
        constexpr int begin = half.value * Shape::blocks / 2, end = begin + Shape::blocks / 2;
        if (!is_last) {
          if (is_first)
            Totals::template begin_totals<begin, end>(held, chains[half.value], storer);
          else
            Totals::template fold<begin, end>(held, chains[half.value], storer);
          return;
        }
        if (is_first) Totals::template clear_totals<begin, end>(held, storer);
        if constexpr (Plain)
          Totals::template pack<begin, end>(held, chains[half.value], storer);
        else
          Totals::template store<begin, end>(held, chains[half.value], storer, before);
      });
      is_packed = Plain && is_last;
    }
    storer.finish();
    if (blockIdx.x < half_tiles)
      multiply_half_tile(products.ring(), shared, static_cast<int>(opaque(threadIdx.x) / 128));
  }

  /// The same of a half tile, in one piece: it is the block's last one.
  __device__ void multiply_half_tile(const Ring& ring, const unsigned char* shared, int group) const {
    using Half = LargeHalfTile<Shape>;
    using Totals = LargeTotals<Packed, Half, Plain>;
    const int stages = (k + Shape::depth - 1) / Shape::depth;
    LargeProducts<A, B, MajorB, Half> products(ring, shared, group, stages);
    typename Totals::Storer storer(output, opaque(shared_address(shared)), group);
    LargePosition at = half_position(blockIdx.x);
    at.row += group * 64;

    float chain[Half::columns / 2], held[Half::held];
    Totals::template clear_totals<0, Half::blocks>(held, storer);
    leave_undefined(chain);
#pragma unroll 1
    for (int left = stages; left > 0;) {
      const int count = left < leaf_stages ? left : leaf_stages;
      products.begin(chain, count, false);
      products.complete(chain, count, [](int) {});
      left -= count;
      if (left > 0) Totals::template fold<0, Half::blocks>(held, chain, storer);
    }
    if constexpr (Plain) {
      Totals::template pack<0, Half::blocks>(held, chain, storer);
      storer.send_tile(held, at.row, at.column);
    } else {
      Totals::template store<0, Half::blocks>(held, chain, storer, at);
    }
    storer.finish();
  }
};

}  // namespace invar::backends::cuda::gemm

#endif
