// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// A launch of a small matrix product in numbers.
#ifndef INVAR_BACKENDS_CUDA_MATRIX_SMALL_PLAN_HPP
#define INVAR_BACKENDS_CUDA_MATRIX_SMALL_PLAN_HPP

#include <invar/backends/cuda/matrix_small_ring.hpp>

#include <cstdint>

namespace invar::backends::cuda::small {

/// How the blocks of a cluster share the leaves of a tile, in numbers: block r computes leaves first_leaf[r] …
/// first_leaf[r + 1] − 1. A tile falls into parts of 8 columns of the instruction, 4 outputs of each thread; part p is
/// joined by block p mod cluster, which gets the chains of all leaves for it. Those of block 0 come as one, already
/// added, since they are the first.
struct LeafShares {
  static constexpr int max_cluster = 8;  // that every device runs

  int cluster;
  int first_leaf[max_cluster + 1];
  int slots;            ///< sums that a block receives for each of its parts
  int parts;            ///< of a block, at most
  int blocks_with_all;  ///< so many have them; the others have one part less

  static LeafShares of(int cluster, int leaves, int parts) {
    LeafShares s{};
    s.cluster = cluster;
    for (int rank = 0; rank <= cluster; ++rank) s.first_leaf[rank] = rank * leaves / cluster;
    s.slots = 1 + leaves - s.first_leaf[1];
    s.parts = (parts + cluster - 1) / cluster;
    s.blocks_with_all = parts - (s.parts - 1) * cluster;
    return s;
  }
};

/// A launch in numbers. Nothing here reaches the arithmetic but `leaves` and `leaf_stages`, which the contract fixes.
struct Plan {
  int tiles_m;           ///< tiles along the batch
  std::uint32_t over_m;  ///< 2^32 / tiles_m, rounded up
  int tiles;             ///< of c
  int stages;            ///< along the whole of k
  int leaf_stages;       ///< of a leaf
  int leaves;
  LeafShares shares;
  Ring ring;
  int batch_rows;            ///< of a box of the batch, a multiple of 8
  int mail_at, barriers_at;  ///< bytes from the first atom of shared memory
  int shared_bytes;
  bool weights_are_constant;  ///< no kernel before this one on the stream writes the weights: they are read early
};

/// A block's share of the work.
struct Share {
  int rank;             ///< in the cluster that shares the leaves of a tile
  int tile, tile_step;  ///< the first tile, and from one to the next
  int leaf, leaf_end;
};

}  // namespace invar::backends::cuda::small

#endif
