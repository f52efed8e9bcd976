// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// A warp's pass of leaves, which stays in registers between a reduction and the map that follows.
#ifndef INVAR_BACKENDS_CUDA_HELD_PASS_HPP
#define INVAR_BACKENDS_CUDA_HELD_PASS_HPP

#include <invar/backends/cuda/leaf_group.hpp>
#include <invar/tree/aligned.hpp>

#include <cstdint>

namespace invar::backends::cuda {

/// A thread's vectors of one operand, in registers: those of its lanes in one leaf, in ascending order.
template <class Operand, int V, int Count>
struct Held {
  using operand_type = Operand;
  using value_type = typename Operand::value_type;
  static constexpr int element_bytes = Operand::element_bytes;
  Tile<Operand, V> held[Count];

  KOKKOS_FORCEINLINE_FUNCTION const Tile<Operand, V>& tile(int p) const { return held[p]; }
};

/// Calls body(p) for p = 0 … held − 1 with constant p. A full pass has a path without conditions.
template <int Count, class Body>
KOKKOS_FORCEINLINE_FUNCTION void for_each_held(int held, const Body& body) {
  if (held == Count) {
    INVAR_UNROLL
    for (int p = 0; p < Count; ++p) body(p);
  } else {
    INVAR_UNROLL
    for (int p = 0; p < Count; ++p)
      if (p < held) body(p);
  }
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

/// Where the thread stands in a warp's pass, and the steps on it. Rows and columns must allow vectors, see
/// IsVectorEverywhere.
template <class Group>
class HeldPass {
 public:
  static constexpr int vector = Group::vector;

  static KOKKOS_FUNCTION std::int64_t count(std::int64_t columns, int leaf) {
    return tree::leaf_count(tree::leaf_count(columns, leaf), Group::groups);
  }

  /// Pass `pass` of a row; beyond the last one, nothing is held.
  KOKKOS_FUNCTION HeldPass(std::int64_t columns, int leaf, int pass) {
    const int leaves = static_cast<int>(tree::leaf_count(columns, leaf));
    const int first_leaf = pass * Group::groups;
    leaves_ = leaves - first_leaf < Group::groups ? leaves - first_leaf : Group::groups;
    first_ = static_cast<std::int64_t>(first_leaf + lane() / Group::threads) * leaf + lane() % Group::threads * vector;
    const std::int64_t left = columns - first_;
    const std::int64_t vectors = left > 0 ? tree::leaf_count(left, Group::stride) : 0;
    held_ = vectors < Group::passes ? static_cast<int>(vectors) : Group::passes;
  }

  template <class Operand>
  KOKKOS_FORCEINLINE_FUNCTION Held<Operand, vector, Group::passes> hold(std::int64_t row,
                                                                        const Operand& operand) const {
    Held<Operand, vector, Group::passes> held;
    INVAR_UNROLL
    for (int p = 0; p < Group::passes; ++p)
      if (p < held_) held.held[p].load(operand, row, first_ + p * Group::stride);
    return held;
  }

  /// Calls body(p, column) for the thread's vectors.
  template <class Body>
  KOKKOS_FORCEINLINE_FUNCTION void for_each(const Body& body) const {
    for_each_held<Group::passes>(held_, [&](int p) { body(p, first_ + p * Group::stride); });
  }

  /// The pass's node of the tree, in every lane.
  template <class Reduction>
  KOKKOS_FORCEINLINE_FUNCTION typename Reduction::value_type reduce(const Reduction& reduction) const {
    using Value = typename Reduction::value_type;
    const Value leaf = reduction.leaf(HeldLeaf<Group>(first_, held_));
    return fold_lanes<Group::threads>(leaf, leaves_,
                                      [&](const Value& a, const Value& b) { return reduction.join(a, b); });
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
  std::int64_t first_;  // the thread's first column
  int held_;            // vectors before the row's end
  int leaves_;
};

}  // namespace invar::backends::cuda

#endif
