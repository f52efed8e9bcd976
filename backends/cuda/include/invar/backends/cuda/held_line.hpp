// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Rows that stay in registers between a reduction and the map that follows: read once, one pass of leaves a warp.
#ifndef INVAR_BACKENDS_CUDA_HELD_LINE_HPP
#define INVAR_BACKENDS_CUDA_HELD_LINE_HPP

#include <invar/backends/cuda/cluster_mail.hpp>
#include <invar/backends/cuda/row_lines.hpp>

#include <cstdint>

namespace invar::backends::cuda {

/// A thread's vectors of one operand, in registers: those of its lanes in one leaf, in ascending order.
template <class Operand, int V, int Count>
struct Held {
  using value_type = typename Operand::value_type;
  static constexpr int element_bytes = Operand::element_bytes;
  Tile<Operand, V> held[Count];

  KOKKOS_FORCEINLINE_FUNCTION const Tile<Operand, V>& tile(int p) const { return held[p]; }
};

/// The same in shared memory, where each thread has places of its own.
template <class Operand, int V>
struct HeldInShared {
  using value_type = typename Operand::value_type;
  using storage_type = typename Operand::storage_type;
  static constexpr int element_bytes = Operand::element_bytes;
  static_assert(V * sizeof(storage_type) == 16);
  uint4* place;  ///< of the thread's first vector
  int threads;   ///< places from one vector to the next

  KOKKOS_FORCEINLINE_FUNCTION Tile<Operand, V> tile(int p) const {
    Tile<Operand, V> tile;
    tile.load(reinterpret_cast<const storage_type*>(place + p * threads));
    return tile;
  }
  /// Starts the copy of vector p; arrive() waits for all.
  KOKKOS_FORCEINLINE_FUNCTION void copy(int p, [[maybe_unused]] const storage_type* from) const {
#ifdef __CUDA_ARCH__
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                     static_cast<std::uint32_t>(__cvta_generic_to_shared(place + p * threads))),
                 "l"(from)
                 : "memory");
#endif
  }
  KOKKOS_FORCEINLINE_FUNCTION static void arrive() {
#ifdef __CUDA_ARCH__
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
  }
};

/// Calls body(p) for p = 0 … held − 1 with constant p.
template <int Count, class Body>
KOKKOS_FORCEINLINE_FUNCTION void for_each_held(int held, const Body& body) {
  INVAR_UNROLL
  for (int p = 0; p < Count; ++p)
    if (p < held) body(p);
}

/// The threads of a warp's groups, with the vectors they hold, as a reduction sees a leaf.
template <class Group>
class HeldLeaf {
 public:
  /// \param first  the thread's first column
  /// \param held   vectors that lie before the row's end
  KOKKOS_FORCEINLINE_FUNCTION HeldLeaf(std::int64_t first, int held) : first_(first), held_(held) {}

  template <class Operand>
  KOKKOS_FORCEINLINE_FUNCTION const Operand& load(const Operand& operand) const {
    return operand;
  }

  template <class Value, class Step, class Join, class... Operand>
  KOKKOS_FORCEINLINE_FUNCTION Value fold(Value identity, const Step& step, const Join& join,
                                         const Operand&... operand) const {
    Value value[Group::vector];
    INVAR_UNROLL
    for (int v = 0; v < Group::vector; ++v) value[v] = identity;
    for_each_held<Group::passes>(held_, [&](int p) {
      [&](const auto&... tile) {
        INVAR_UNROLL
        for (int v = 0; v < Group::vector; ++v)
          value[v] = step(value[v], first_ + p * Group::stride + v, tile.get(v)...);
      }(operand.tile(p)...);
    });
    return Group::join_lanes(value, join);
  }

 private:
  std::int64_t first_;
  int held_;
};

/// A row of which each warp holds one pass. In a cluster, either each block of 16 warps has an aligned subtree of
/// passes, which it folds by itself (many rows: the least work), or the passes are spread over as many blocks as there
/// may be, and each block folds them all (few rows: the shortest time). Rows and columns must allow vectors, see
/// IsVectorEverywhere.
///
/// \tparam Group     the LeafGroup of the contract and the narrowest element
/// \tparam InShared  where the row is held: shared memory leaves registers for more warps, and so for more rows at a
/// time
template <class Group, bool InShared>
class HeldLine {
 public:
  static constexpr int vector = Group::vector;
  /// Most warps of a block; a power of two.
  static constexpr int max_warps = 16;
  static constexpr int max_cluster = 16;

  /// Values of one round in shared memory: of warps, blocks and the row; or of all passes and their subtrees of 32.
  static constexpr int set_size = max_warps * max_cluster + warp_size;

  /// Bytes of shared memory: the mail's, and two sets, so that one may be filled while slower warps still read the
  /// other.
  static constexpr std::size_t shared_bytes(std::size_t value_bytes, std::size_t threads) {
    return sets_bytes(value_bytes) + (InShared ? Group::passes * threads * sizeof(uint4) : 0);
  }

  KOKKOS_FUNCTION HeldLine(std::int64_t columns, int leaf, const Cluster& cluster, char* shared, int value_bytes)
      : cluster_(cluster),
        mail_(shared, cluster.size()),
        shared_(shared + ClusterMail::shared_bytes),
        places_(reinterpret_cast<uint4*>(shared + sets_bytes(value_bytes))),
        columns_(columns) {
    const int leaves = static_cast<int>(tree::leaf_count(columns, leaf));
    passes_ = (leaves + Group::groups - 1) / Group::groups;
    const int first_pass = cluster_.rank() * cluster_.warps();
    warps_here_ = passes_ - first_pass < cluster_.warps() ? passes_ - first_pass : cluster_.warps();
    const int first_leaf = (first_pass + cluster_.warp()) * Group::groups;
    leaves_here_ = leaves - first_leaf < Group::groups ? leaves - first_leaf : Group::groups;
    first_ = static_cast<std::int64_t>(first_leaf + lane() / Group::threads) * leaf + lane() % Group::threads * vector;
    const std::int64_t left = columns - first_;
    const std::int64_t vectors = left > 0 ? tree::leaf_count(left, Group::stride) : 0;
    held_ = vectors < Group::passes ? static_cast<int>(vectors) : Group::passes;
  }

  KOKKOS_FUNCTION std::int64_t columns() const { return columns_; }

  template <class Operand>
  KOKKOS_FORCEINLINE_FUNCTION auto hold(std::int64_t row, const Operand& operand) const {
    if constexpr (InShared) {
      const HeldInShared<Operand, vector> held{places_ + thread_in_block(), cluster_.warps() * warp_size};
      for_each_held<Group::passes>(held_,
                                   [&](int p) { held.copy(p, operand.address(row, first_ + p * Group::stride)); });
      held.arrive();
      return held;
    } else {
      Held<Operand, vector, Group::passes> held;
      INVAR_UNROLL
      for (int p = 0; p < Group::passes; ++p)
        if (p < held_) held.held[p].load(operand, row, first_ + p * Group::stride);
      return held;
    }
  }

  template <class Reduction>
  KOKKOS_FORCEINLINE_FUNCTION typename Reduction::value_type reduce(std::int64_t, const Reduction& reduction) const {
    using Value = typename Reduction::value_type;
    const auto join = [&](const Value& a, const Value& b) { return reduction.join(a, b); };
    const Value leaf = reduction.leaf(HeldLeaf<Group>(first_, held_));
    const Value pass = fold_lanes<Group::threads>(leaf, leaves_here_, join);
    if (passes_ == 1) return pass;
    Value* const set = reinterpret_cast<Value*>(shared_) + flip_ * set_size;
    flip_ ^= 1;
    if (cluster_.size() == 1) return fold_block(set, pass, join);
    return cluster_.warps() < max_warps ? fold_spread(set, pass, join) : fold_blocks(set, pass, join);
  }

  template <class F, class Out, class... Operand>
  KOKKOS_FORCEINLINE_FUNCTION void map(std::int64_t row, const F& f, const Out& out, const Operand&... operand) const {
    for_each_held<Group::passes>(held_, [&](int p) {
      [&](const auto&... tile) {
        decltype(f(tile.get(0)...)) values[vector];
        INVAR_UNROLL
        for (int v = 0; v < vector; ++v) values[v] = f(tile.get(v)...);
        store_vector<vector>(out, row, first_ + p * Group::stride, values);
      }(operand.tile(p)...);
    });
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION static constexpr std::size_t sets_bytes(std::size_t value_bytes) {
    return ClusterMail::shared_bytes + 2 * set_size * value_bytes;
  }

  /// The aligned tree over the block's passes, in every thread.
  template <class Value, class Join>
  KOKKOS_FORCEINLINE_FUNCTION Value fold_block(Value* set, const Value& pass, const Join& join) const {
    if (lane() == 0) set[cluster_.warp()] = pass;
    Cluster::block_barrier();
    return fold_lanes(set[lane() < warps_here_ ? lane() : 0], warps_here_, join);
  }

  /// Every block gets all passes and folds them.
  template <class Value, class Join>
  KOKKOS_FORCEINLINE_FUNCTION Value fold_spread(Value* set, const Value& pass, const Join& join) const {
    Cluster::block_barrier();  // no warp still reads what the next round but one will overwrite
    mail_.begin(static_cast<std::uint32_t>(passes_ * sizeof(Value)));
    if (cluster_.warp() < warps_here_ && lane() < cluster_.size())
      mail_.send(&set[cluster_.rank() * cluster_.warps() + cluster_.warp()], pass, lane());
    mail_.wait();
    mail_.end();
    const BlockLine block(columns_, 0, nullptr, cluster_);
    return block.fold_set(set, set + max_warps * max_cluster, passes_, join);
  }

  /// Every block folds its own passes and gets the others' results. One warp folds, because a join may be dear.
  template <class Value, class Join>
  KOKKOS_FORCEINLINE_FUNCTION Value fold_blocks(Value* set, const Value& pass, const Join& join) const {
    Value* const of_block = set + max_warps;
    Value* const of_row = of_block + max_cluster;
    if (lane() == 0) set[cluster_.warp()] = pass;
    Cluster::block_barrier();
    mail_.begin(static_cast<std::uint32_t>(cluster_.size() * sizeof(Value)));
    if (cluster_.warp() == 0) {
      const Value block = fold_lanes(set[lane() < warps_here_ ? lane() : 0], warps_here_, join);
      if (lane() < cluster_.size()) mail_.send(&of_block[cluster_.rank()], block, lane());
      mail_.wait();
      const Value row = fold_lanes(of_block[lane() < cluster_.size() ? lane() : 0], cluster_.size(), join);
      if (lane() == 0) *of_row = row;
    }
    mail_.end();
    Cluster::block_barrier();
    return *of_row;
  }

  Cluster cluster_;
  mutable ClusterMail mail_;
  char* shared_;
  uint4* places_;
  std::int64_t columns_;
  int passes_;          // of the row
  std::int64_t first_;  // the thread's first column
  int held_;            // vectors before the row's end
  int leaves_here_;     // in the warp's pass
  int warps_here_;      // of the block that have leaves
  mutable int flip_ = 0;
};

}  // namespace invar::backends::cuda

#endif
