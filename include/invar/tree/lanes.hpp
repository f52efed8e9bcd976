// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// One leaf of a row contract: strided lanes, joined by a stride-halving tree.
#ifndef INVAR_TREE_LANES_HPP
#define INVAR_TREE_LANES_HPP

#include <Kokkos_Macros.hpp>
#include <cstdint>

namespace invar::tree {

/// Joins lanes [0, 2·Stride) of `lane` into lane 0. Constant bounds keep the wide strides in vector registers.
template <int Stride, class Value, class Join>
KOKKOS_INLINE_FUNCTION void halve_strides(Value* lane, const Join& join) {
  if constexpr (Stride > 0) {
    for (int l = 0; l < Stride; ++l) lane[l] = join(lane[l], lane[l + Stride]);
    halve_strides<Stride / 2>(lane, join);
  }
}

/// One thread evaluates a leaf, all lanes of it. A reduction's leaf() is written against this interface, so that a GPU
/// can bring its own, in which a group of threads shares the lanes.
///
/// \tparam Contract  a contract::Rows
template <class Contract>
class SequentialLeaf {
 public:
  /// Elements [begin, end) of a row, at most a leaf.
  KOKKOS_FUNCTION SequentialLeaf(std::int64_t row, std::int64_t begin, std::int64_t end)
      : row_(row), begin_(begin), end_(end) {}

  /// The leaf's elements of one operand, to be handed to fold; several folds may use them.
  template <class Operand>
  KOKKOS_FUNCTION const Operand& load(const Operand& operand) const {
    return operand;
  }

  /// The leaf's value, known to every thread that shares the leaf.
  ///
  /// \param identity  value of a lane before its first element; joining it must change nothing
  /// \param step      step(value, column, elements...): the lane's next link
  /// \param join      join(lower lane, upper lane)
  template <class Value, class Step, class Join, class... Operand>
  KOKKOS_FUNCTION Value fold(Value identity, const Step& step, const Join& join, const Operand&... operand) const {
    constexpr int lanes = Contract::lanes;
    Value lane[lanes];
    for (int l = 0; l < lanes; ++l) lane[l] = identity;
    std::int64_t i = begin_;
    for (; i + lanes <= end_; i += lanes)
      for (int l = 0; l < lanes; ++l) lane[l] = step(lane[l], i + l, operand(row_, i + l)...);
    for (int l = 0; l < static_cast<int>(end_ - i); ++l) lane[l] = step(lane[l], i + l, operand(row_, i + l)...);
    halve_strides<lanes / 2>(lane, join);
    return lane[0];
  }

 private:
  std::int64_t row_, begin_, end_;
};

}  // namespace invar::tree

#endif
