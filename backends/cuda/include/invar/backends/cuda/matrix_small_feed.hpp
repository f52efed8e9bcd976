// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What the warp that copies does in a small matrix product.
#ifndef INVAR_BACKENDS_CUDA_MATRIX_SMALL_FEED_HPP
#define INVAR_BACKENDS_CUDA_MATRIX_SMALL_FEED_HPP

#include <invar/backends/cuda/launch.hpp>
#include <invar/backends/cuda/matrix_small_copy.hpp>
#include <invar/backends/cuda/matrix_small_places.hpp>
#include <invar/backends/cuda/matrix_small_plan.hpp>
#include <invar/backends/cuda/matrix_small_ring.hpp>
#include <invar/backends/cuda/matrix_unit.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace invar::backends::cuda::small {

/// Brings the operands of a block's share, stage by stage.
template <class Kernel>
class SmallFeed {
  using Shape = typename Kernel::Shape;

 public:
  __device__ SmallFeed(const Kernel& kernel, const Share& share)
      : kernel_(kernel),
        share_(share),
        first_(share.leaf * kernel.plan.leaf_stages),
        end_(share.leaf_end * kernel.plan.leaf_stages < kernel.plan.stages ? share.leaf_end * kernel.plan.leaf_stages
                                                                           : kernel.plan.stages) {}

  __device__ void run(RingPlace place) const {
    const CopyLane lane;
    lane.prefetch(kernel_.batch);
    for (const CUtensorMap& map : kernel_.weights) lane.prefetch(map);
    place.set_up(Shape::warps);
    const Plan& plan = kernel_.plan;
    Cursor next{share_.tile, first_, kernel_.tile_at(share_.tile)};
    // Constant weights need not wait; the batch must.
    if (plan.weights_are_constant) {
      Cursor early = next;
      RingPlace ahead = place;
      int count = 0;
#pragma unroll 1
      for (; count < plan.ring.stages && early.tile < plan.tiles; ++count, advance(early)) {
        bring_weights(lane, ahead, early);
        ahead.advance();
      }
      wait_for_previous_kernel();
#pragma unroll 1
      for (; count > 0; --count, advance(next)) {
        bring_batch(lane, place, next);
        place.advance();
      }
    } else {
      wait_for_previous_kernel();
    }
    int hinted = share_.tile;
#pragma unroll 1
    while (true) {
      if (hinted < plan.tiles && hinted <= next.tile) {
        kernel_.output.prefetch(kernel_.tile_at(hinted), Shape::batch, Kernel::columns);
        hinted += share_.tile_step;
      }
      if (next.tile >= plan.tiles) return;
      place.wait_until_empty();
      bring_weights(lane, place, next);
      bring_batch(lane, place, next);
      place.advance();
      advance(next);
    }
  }

 private:
  /// A stage of a tile, in the order in which they come.
  struct Cursor {
    int tile, stage;
    Tile at;
  };
  __device__ void advance(Cursor& cursor) const {
    if (++cursor.stage < end_) return;
    cursor.stage = first_;
    cursor.tile += share_.tile_step;
    cursor.at = kernel_.tile_at(cursor.tile);
  }

  /// The stage's bytes are announced with its weights.
  __device__ void bring_weights(const CopyLane& lane, const RingPlace& place, const Cursor& cursor) const {
    lane.expect(place.full(), kernel_.plan.ring.weights_bytes + kernel_.plan.ring.batch_bytes);
    std::uint32_t to = place.weights();
    // Weights that more than one tile reads are worth keeping for it.
    const Keep keep = kernel_.plan.tiles_m == 1 ? Keep::until_needed : Keep::longest;
#pragma unroll
    for (int i = 0; i < Shape::chunks; ++i) {
      const int k = cursor.stage * Shape::depth + i * chunk;
      if constexpr (Shape::weights_are_rows && Kernel::factors == 2) {
        lane.copy_both(kernel_.weights[0], to, place.full(), k, cursor.at.j / 8, keep);
        to += Shape::weights * chunk_bytes;
      } else if constexpr (Kernel::weights_major == Major::k) {
#pragma unroll
        for (int f = 0; f < Kernel::factors; ++f) {
          lane.copy(kernel_.weights[f], to, place.full(), k, cursor.at.j, keep);
          to += Kernel::columns * chunk_bytes;
        }
      } else {
#pragma unroll
        for (int block = 0; block < Shape::weights; block += chunk) {
          lane.copy(kernel_.weights[0], to, place.full(), cursor.at.j + block, k, keep);
          to += chunk * chunk_bytes;
        }
      }
    }
  }
  __device__ void bring_batch(const CopyLane& lane, const RingPlace& place, const Cursor& cursor) const {
    std::uint32_t to = place.batch();
#pragma unroll
    for (int i = 0; i < Shape::chunks; ++i) {
      lane.copy(kernel_.batch, to, place.full(), cursor.stage * Shape::depth + i * chunk, cursor.at.i, Keep::longest);
      to += static_cast<std::uint32_t>(kernel_.plan.batch_rows * chunk_bytes);
    }
  }

  const Kernel& kernel_;
  const Share& share_;
  int first_, end_;  // stages of a tile
};

}  // namespace invar::backends::cuda::small

#endif
