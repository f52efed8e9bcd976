// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Rows that stay in registers between a reduction and the map that follows, shared by a block or a cluster.
#ifndef INVAR_BACKENDS_CUDA_HELD_LINE_HPP
#define INVAR_BACKENDS_CUDA_HELD_LINE_HPP

#include <invar/backends/cuda/cluster_mail.hpp>
#include <invar/backends/cuda/held_pass.hpp>
#include <invar/backends/cuda/row_lines.hpp>

#include <cstdint>

namespace invar::backends::cuda {

/// A row of which each warp holds one pass. In a cluster, either each block of 16 warps has an aligned subtree of
/// passes, which it folds by itself (many rows: the least work), or the passes are spread over as many blocks as there
/// may be, and each block folds them all (few rows: the shortest time). Rows and columns must allow vectors, see
/// IsVectorEverywhere.
///
/// \tparam Group     the LeafGroup of the contract and the narrowest element
template <class Group>
class HeldLine {
 public:
  /// Most warps of a block; a power of two.
  static constexpr int max_warps = 16;
  static constexpr int max_cluster = 16;

  /// Values of one round in shared memory: of warps, blocks and the row; or of all passes and their subtrees of 32.
  static constexpr int set_size = max_warps * max_cluster + warp_size;

  /// Bytes of shared memory: the mail's, and two sets, so that one may be filled while slower warps still read the
  /// other.
  static constexpr std::size_t shared_bytes(std::size_t value_bytes) {
    return ClusterMail::shared_bytes + 2 * set_size * value_bytes;
  }

  KOKKOS_FUNCTION HeldLine(std::int64_t columns, int leaf, const Cluster& cluster, char* shared)
      : cluster_(cluster),
        mail_(shared, cluster.size()),
        shared_(shared + ClusterMail::shared_bytes),
        columns_(columns),
        passes_(static_cast<int>(HeldPass<Group>::count(columns, leaf))),
        pass_(columns, leaf, cluster.rank() * cluster.warps() + cluster.warp()) {
    const int left = passes_ - cluster_.rank() * cluster_.warps();
    warps_here_ = left < cluster_.warps() ? left : cluster_.warps();
  }

  KOKKOS_FUNCTION std::int64_t columns() const { return columns_; }

  template <class Operand>
  KOKKOS_FORCEINLINE_FUNCTION auto hold(std::int64_t row, const Operand& operand) const {
    return pass_.hold(row, operand);
  }

  template <class Reduction>
  KOKKOS_FORCEINLINE_FUNCTION typename Reduction::value_type reduce(std::int64_t, const Reduction& reduction) const {
    using Value = typename Reduction::value_type;
    const auto join = [&](const Value& a, const Value& b) { return reduction.join(a, b); };
    const Value pass = pass_.reduce(reduction);
    if (passes_ == 1) return pass;
    Value* const set = reinterpret_cast<Value*>(shared_) + flip_ * set_size;
    flip_ ^= 1;
    if (cluster_.size() == 1) return fold_block(set, pass, join);
    return cluster_.warps() < max_warps ? fold_spread(set, pass, join) : fold_blocks(set, pass, join);
  }

  template <class F, class Out, class... Operand>
  KOKKOS_FORCEINLINE_FUNCTION void map(std::int64_t row, const F& f, const Out& out, const Operand&... operand) const {
    pass_.map(row, f, out, operand...);
  }

 private:
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
  std::int64_t columns_;
  int passes_;  // of the row
  HeldPass<Group> pass_;
  int warps_here_;  // of the block that have leaves
  mutable int flip_ = 0;
};

}  // namespace invar::backends::cuda

#endif
