// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The kernel of matrix products with few rows on Hopper's matrix unit: it streams the weights.
#ifndef INVAR_BACKENDS_CUDA_MATRIX_SMALL_KERNEL_HPP
#define INVAR_BACKENDS_CUDA_MATRIX_SMALL_KERNEL_HPP

#include <invar/backends/cuda/launch.hpp>
#include <invar/backends/cuda/matrix_small_copy.hpp>
#include <invar/backends/cuda/matrix_small_feed.hpp>
#include <invar/backends/cuda/matrix_small_mail.hpp>
#include <invar/backends/cuda/matrix_small_places.hpp>
#include <invar/backends/cuda/matrix_small_plan.hpp>
#include <invar/backends/cuda/matrix_small_ring.hpp>
#include <invar/backends/cuda/matrix_small_tile.hpp>
#include <invar/num/arithmetic.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace invar::backends::cuda::small {

/// The kernel. One warp copies, the others multiply. Without a cluster the blocks go through the tiles in turn, and a
/// tile's leaves are added where they are computed. In a cluster each block has a share of one tile's leaves; every
/// block gets the chains of all leaves for a part of the tile, and adds them in ascending order.
///
/// \tparam Shares  in a cluster each block has a share of the leaves
/// \tparam Output  SmallOutput; or GatedOutput: then half of a tile's columns are the gate's, the others those of up
template <class T, class Shape_, Major Weights, class Output, bool Shares>
struct MatrixSmall {
  using waits_itself = void;
  using Shape = Shape_;
  static constexpr Major weights_major = Weights;
  static constexpr int max_threads = Shape::threads;
  static constexpr int min_blocks = 1;
  static constexpr int factors = Output::is_gated ? 2 : 1;
  static constexpr int columns = Shape::weights / factors;  ///< of c in a tile, and of a box of weights stored [N, K]
  static constexpr int weights_maps = Shape::weights_are_rows ? 1 : factors;
  static_assert(factors == 1 || (Weights == Major::k && columns % 8 == 0));
  static_assert(!Shares || factors == 1);
  using Mail = LeafMail<Shape>;

  CUtensorMap weights[weights_maps], batch;
  Output output;
  Plan plan;

  /// The ring, but for its length.
  static Ring ring_of(int batch_rows) {
    const auto bytes = [](int lines) { return static_cast<std::uint32_t>(lines * chunk_bytes); };
    return {0, Shape::chunks * bytes(Shape::weights), Shape::chunks * bytes(batch_rows),
            Shape::weights_are_rows ? 0 : bytes(Shape::batch - batch_rows)};
  }

  __device__ Tile tile_at(int t) const {
    const int column = plan.tiles_m == 1 ? t : static_cast<int>(__umulhi(static_cast<unsigned>(t), plan.over_m));
    return {(t - column * plan.tiles_m) * Shape::batch, column * columns, static_cast<int>(output.out.m)};
  }

  __device__ void operator()() const {
    if constexpr (has_wgmma()) run();
  }

 private:
  static constexpr int registers = Shape::registers;
  using Places = PairPlaces<Shape::weights_are_rows>;

  __device__ void run() const {
    extern __shared__ __align__(16) unsigned char small_shared[];
    unsigned char* const shared = first_atom(small_shared);
    RingPlace place(plan.ring, shared, shared + plan.barriers_at);
    Mail mail(shared + plan.barriers_at + plan.ring.barriers_bytes(), shared + plan.mail_at, plan.shares, Shares);
    const int warp = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / 32, 0);
    Share share{0, static_cast<int>(blockIdx.x), static_cast<int>(gridDim.x), 0, plan.leaves};
    if constexpr (Shares) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
      asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(share.rank));
      asm("mov.u32 %0, %%clusterid.x;" : "=r"(share.tile));
#endif
      share.tile_step = plan.tiles;  // one tile a cluster
      share.leaf = plan.shares.first_leaf[share.rank];
      share.leaf_end = plan.shares.first_leaf[share.rank + 1];
    }
    // In a cold start code comes from memory: that of the warp which copies lies first.
    if (warp == Shape::warps) [[likely]] {
      SmallFeed<MatrixSmall>(*this, share).run(place);
      if constexpr (Shares) mail.leave();
    } else {
      RingPlace::wait_until_set_up(Shape::warps);
      multiply(place, share, mail, warp);
    }
  }

  __device__ void multiply(RingPlace place, const Share& share, Mail& mail, int warp) const {
    const TileProducts<T, Shape, Weights> products(static_cast<std::uint32_t>(plan.batch_rows * chunk_bytes), warp / 4);
    wait_for_previous_kernel();  // which may read what c was, or write the bias
    if constexpr (Shares) mail.begin(share.rank);
#pragma unroll 1
    for (int t = share.tile; t < plan.tiles; t += share.tile_step) {
      float total[registers], chain[registers];
#pragma unroll
      for (int i = 0; i < registers; ++i) total[i] = -0.0f;
#pragma unroll 1
      for (int leaf = share.leaf; leaf < share.leaf_end; ++leaf) {
        const bool is_last = leaf == plan.leaves - 1;
        products.leaf(chain, place, is_last ? plan.stages - leaf * plan.leaf_stages : plan.leaf_stages);
        if (!Shares || share.rank == 0) {
#pragma unroll
          for (int i = 0; i < registers; ++i) total[i] = num::add(total[i], chain[i]);
        } else {
          mail.send_leaf(chain, leaf);
        }
      }
      finish(mail, share, tile_at(t), warp, total);
    }
  }

  /// Stores a tile's outputs, or this block's part of them.
  __device__ void finish(const Mail& mail, const Share& share, const Tile& tile, int warp,
                         float (&total)[registers]) const {
    const int lane = static_cast<int>(threadIdx.x) % 32, row = warp * 16 + lane / 4, column = lane % 4 * 2;
    // Lanes 4 apart hold neighbours in a row of c where the weights are rows: each takes both for one of two rows.
    const int is_odd = Shape::weights_are_rows ? lane / 4 & 1 : 0;
    Places places{0, 0, tile.m, Mail::parts, 8};
    if constexpr (Shares) {
      if (share.rank == 0) mail.send_first(total);
      mail.receive(share.rank, total);
      places.parts = mail.parts_of(share.rank);
      places.step = 8 * plan.shares.cluster;
    }
    if constexpr (factors == 2 && Shape::weights_are_rows) {
      // Row r of a warp's first 8 is the gate's, row r + 8 that of up for the same column of c.
      places.first_i = tile.i + column + is_odd;
      places.first_j = tile.j + warp * 8 + lane / 4 - is_odd;
      return output.finish_rows(total, places, is_odd != 0);
    }
    const int first = column + 8 * share.rank;
    places.first_i = tile.i + (Shape::weights_are_rows ? first + is_odd : row);
    places.first_j = tile.j + (Shape::weights_are_rows ? row - is_odd : first);
    if constexpr (factors == 2) {
      float gate[registers / 2], up[registers / 2];
#pragma unroll
      for (int i = 0; i < registers / 2; ++i) {
        gate[i] = total[i];
        up[i] = total[i + registers / 2];
      }
      output.template finish<registers / 4>(gate, up, places);
    } else {
      pair_up(total, is_odd != 0);
      output.template finish<registers / 2>(total, places);
    }
  }

  /// A thread's outputs in 8 columns of the instruction are x and y in row lane / 4 at columns 2·(lane % 4) and the
  /// next, and z and w eight rows below; they become pairs of PairPlaces.
  static __device__ void pair_up(float (&values)[registers], bool is_odd) {
    if constexpr (Shape::weights_are_rows) {
#pragma unroll
      for (int i = 0; i < registers; i += 2) {
        const float mine = is_odd ? values[i + 1] : values[i];
        const float other = __shfl_xor_sync(0xffffffffu, is_odd ? values[i] : values[i + 1], 4);
        values[i] = is_odd ? other : mine;
        values[i + 1] = is_odd ? mine : other;
      }
    }
  }
};

}  // namespace invar::backends::cuda::small

#endif
