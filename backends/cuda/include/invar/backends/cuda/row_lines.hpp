// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Who shares a row on a GPU: a warp, a block, or the blocks of a cluster. Each evaluates the same tree.
#ifndef INVAR_BACKENDS_CUDA_ROW_LINES_HPP
#define INVAR_BACKENDS_CUDA_ROW_LINES_HPP

#include <invar/backends/cuda/leaf_group.hpp>
#include <invar/tree/aligned.hpp>

#include <cooperative_groups.h>
#include <cstddef>
#include <cstdint>

namespace invar::backends::cuda {

/// A pass is what a warp evaluates at once: as many neighbouring leaves as it has groups of threads. Its value is the
/// node of the aligned tree above them.
template <class Reduction>
struct Passes {
  using Value = typename Reduction::value_type;
  using Contract = typename Reduction::contract;
  using Group = LeafGroup<Contract, Reduction::element_bytes>;

  const Reduction& reduction;
  std::int64_t row;
  std::int64_t columns;

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t leaves() const { return tree::leaf_count(columns, Contract::leaf); }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t count() const { return tree::leaf_count(leaves(), Group::groups); }
  KOKKOS_FORCEINLINE_FUNCTION Value join(const Value& a, const Value& b) const { return reduction.join(a, b); }

  /// The value of a pass in every lane of the warp.
  KOKKOS_FORCEINLINE_FUNCTION Value value(std::int64_t pass) const {
    const std::int64_t first = pass * Group::groups;
    const std::int64_t begin = (first + lane() / Group::threads) * Contract::leaf;
    const std::int64_t end = begin + Contract::leaf < columns ? begin + Contract::leaf : columns;
    const Value leaf = reduction.leaf(Group(row, begin, end));
    const std::int64_t here = leaves() - first;
    return fold_lanes<Group::threads>(leaf, here < Group::groups ? static_cast<int>(here) : Group::groups,
                                      [this](const Value& a, const Value& b) { return join(a, b); });
  }
};

/// One warp has a row to itself.
class WarpLine {
 public:
  KOKKOS_FUNCTION explicit WarpLine(std::int64_t columns) : columns_(columns) {}

  KOKKOS_FUNCTION std::int64_t columns() const { return columns_; }
  KOKKOS_FUNCTION bool is_first() const { return lane() == 0; }

  template <class Reduction>
  KOKKOS_FUNCTION typename Reduction::value_type reduce(std::int64_t row, const Reduction& reduction) const {
    using Value = typename Reduction::value_type;
    if (columns_ == 0) return reduction.empty();
    const Passes<Reduction> passes{reduction, row, columns_};
    const std::int64_t count = passes.count();
    const auto join = [&](const Value& a, const Value& b) { return reduction.join(a, b); };
    // 32 passes are one aligned subtree, whose nodes the lanes keep.
    const auto subtree = [&](std::int64_t s) {
      const std::int64_t first = s * warp_size;
      const int here = count - first < warp_size ? static_cast<int>(count - first) : warp_size;
      Value mine = reduction.empty();
      for (int p = 0; p < here; ++p) {
        const Value value = passes.value(first + p);
        if (lane() == p) mine = value;
      }
      return here == 1 ? exchange_from_first(mine) : fold_lanes(mine, here, join);
    };
    return tree::fold_aligned<Value>(0, tree::leaf_count(count, warp_size), subtree, join);
  }

  template <class F, class Out, class... Operand>
  KOKKOS_FUNCTION void map(std::int64_t row, const F& f, const Out& out, const Operand&... operand) const {
    map_columns(row, columns_, lane(), warp_size, f, out, operand...);
  }
  template <class Operand>
  KOKKOS_FUNCTION const Operand& hold(std::int64_t /*row*/, const Operand& operand) const {
    return operand;
  }

 private:
  template <class Value>
  KOKKOS_FORCEINLINE_FUNCTION static Value exchange_from_first(const Value& value) {
    return fold_lanes(value, 1, [](const Value& a, const Value&) { return a; });
  }

  std::int64_t columns_;
};

/// The blocks that share a row, seen from one of them. Without clusters, or on a device that has none, one block.
class Cluster {
 public:
  KOKKOS_FUNCTION explicit Cluster(int size) : size_(size), rank_(0), warps_(1) {
#ifdef __CUDA_ARCH__
    rank_ = static_cast<int>(blockIdx.x) % size;
    warps_ = static_cast<int>(blockDim.x) / warp_size;
#endif
  }
  KOKKOS_FORCEINLINE_FUNCTION int size() const { return size_; }
  KOKKOS_FORCEINLINE_FUNCTION int rank() const { return rank_; }
  /// Warps of a block.
  KOKKOS_FORCEINLINE_FUNCTION int warps() const { return warps_; }
  KOKKOS_FORCEINLINE_FUNCTION int warp() const { return thread_in_block() / warp_size; }

  /// The address of this block's shared memory as it is in another block of the cluster.
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T* in_block(T* address, [[maybe_unused]] int rank) const {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if (size_ > 1) return cooperative_groups::this_cluster().map_shared_rank(address, rank);
#endif
    return address;
  }
  KOKKOS_FORCEINLINE_FUNCTION static void block_barrier() {
#ifdef __CUDA_ARCH__
    __syncthreads();
#endif
  }
  /// Says that this block has started, which another has to know before it writes into its shared memory.
  KOKKOS_FORCEINLINE_FUNCTION void arrive() const {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if (size_ > 1) asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
#endif
  }
  /// Waits until all blocks have arrived.
  KOKKOS_FORCEINLINE_FUNCTION void wait() const {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if (size_ > 1) asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
#endif
  }
  KOKKOS_FORCEINLINE_FUNCTION void barrier() const {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if (size_ > 1) {
      cooperative_groups::this_cluster().sync();
      return;
    }
#endif
    block_barrier();
  }

 private:
  int size_;
  int rank_;
  int warps_;
};

/// A block, or the blocks of a cluster, share a row. Warps take passes in turn and leave their values in shared memory,
/// of every block; each block then folds all of them.
class BlockLine {
 public:
  /// Most values that lie in shared memory at a time: 32 subtrees of 32.
  static constexpr int max_nodes = warp_size * warp_size;

  /// Bytes of shared memory: two sets, so that one may be filled while slower warps still read the other.
  static constexpr std::size_t shared_bytes(int nodes, std::size_t value_bytes) {
    return 2 * (static_cast<std::size_t>(nodes) + warp_size) * value_bytes;
  }

  /// \param nodes    values that a set holds, a multiple of 32 and at most max_nodes
  /// \param cluster  has arrived
  KOKKOS_FUNCTION BlockLine(std::int64_t columns, int nodes, char* shared, const Cluster& cluster)
      : columns_(columns), nodes_(nodes), shared_(shared), cluster_(cluster) {}

  KOKKOS_FUNCTION std::int64_t columns() const { return columns_; }
  KOKKOS_FUNCTION bool is_first() const { return cluster_.rank() == 0 && thread_in_block() == 0; }

  template <class Reduction>
  KOKKOS_FUNCTION typename Reduction::value_type reduce(std::int64_t row, const Reduction& reduction) const {
    using Value = typename Reduction::value_type;
    if (columns_ == 0) return reduction.empty();
    const Passes<Reduction> passes{reduction, row, columns_};
    const std::int64_t count = passes.count();
    return fold_shared<Value>(
        count, [&](std::int64_t pass) { return passes.value(pass); },
        [&](const Value& a, const Value& b) { return reduction.join(a, b); });
  }

  /// The aligned tree over nodes 0 … count − 1, which node(index) gives to every lane of a warp.
  template <class Value, class Node, class Join>
  KOKKOS_FUNCTION Value fold_shared(std::int64_t count, const Node& node, const Join& join) const {
    const auto segment = [&](std::int64_t s) {
      const std::int64_t first = s * max_nodes;
      return fold_segment<Value>(first, count - first < max_nodes ? static_cast<int>(count - first) : max_nodes, node,
                                 join);
    };
    return tree::fold_aligned<Value>(0, tree::leaf_count(count, max_nodes), segment, join);
  }

  /// The aligned tree over the values of `set`, which lie in shared memory; `subtree` has room for one of each 32.
  template <class Value, class Join>
  KOKKOS_FUNCTION Value fold_set(const Value* set, Value* subtree, int count, const Join& join) const {
    const int subtrees = (count + warp_size - 1) / warp_size;
    if (subtrees == 1) return fold_lanes(set[lane() < count ? lane() : 0], count, join);
    for (int s = cluster_.warp(); s < subtrees; s += cluster_.warps()) {
      const int here = count - s * warp_size < warp_size ? count - s * warp_size : warp_size;
      const Value value = fold_lanes(set[s * warp_size + (lane() < here ? lane() : 0)], here, join);
      if (lane() == 0) subtree[s] = value;
    }
    Cluster::block_barrier();
    return fold_lanes(subtree[lane() < subtrees ? lane() : 0], subtrees, join);
  }

  template <class F, class Out, class... Operand>
  KOKKOS_FUNCTION void map(std::int64_t row, const F& f, const Out& out, const Operand&... operand) const {
    map_columns(row, columns_, thread(), threads(), f, out, operand...);
  }

  template <class Operand>
  KOKKOS_FUNCTION const Operand& hold(std::int64_t /*row*/, const Operand& operand) const {
    return operand;
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t thread() const {
    return cluster_.rank() * cluster_.warps() * warp_size + thread_in_block();
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t threads() const { return cluster_.size() * cluster_.warps() * warp_size; }

  template <class Value, class Node, class Join>
  KOKKOS_FUNCTION Value fold_segment(std::int64_t first, int count, const Node& node, const Join& join) const {
    static_assert(sizeof(Value) <= 16);
    Value* const set = reinterpret_cast<Value*>(shared_) + flip_ * (nodes_ + warp_size);
    Value* const subtree = set + nodes_;
    flip_ ^= 1;
    if (!has_waited_) cluster_.wait();
    has_waited_ = true;
    for (int n = cluster_.rank() * cluster_.warps() + cluster_.warp(); n < count;
         n += cluster_.size() * cluster_.warps()) {
      const Value value = node(first + n);
      if (lane() < cluster_.size()) *cluster_.in_block(&set[n], lane()) = value;
    }
    cluster_.barrier();
    return fold_set(set, subtree, count, join);
  }

  std::int64_t columns_;
  int nodes_;
  char* shared_;
  Cluster cluster_;
  mutable int flip_ = 0;
  mutable bool has_waited_ = false;
};

}  // namespace invar::backends::cuda

#endif
