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

/// Evaluates the leaf of elements [begin, end), at most a leaf long.
///
/// \tparam Lanes  the contract's lane count
/// \param identity  value of a lane before its first element; joining it must change nothing
/// \param step      step(value, index): the lane's next link
/// \param join      join(lower lane, upper lane)
template <int Lanes, class Value, class Step, class Join>
KOKKOS_INLINE_FUNCTION Value leaf_of_lanes(std::int64_t begin, std::int64_t end, Value identity, const Step& step,
                                           const Join& join) {
  Value lane[Lanes];
  for (int l = 0; l < Lanes; ++l) lane[l] = identity;
  std::int64_t i = begin;
  for (; i + Lanes <= end; i += Lanes)
    for (int l = 0; l < Lanes; ++l) lane[l] = step(lane[l], i + l);
  for (int l = 0; l < static_cast<int>(end - i); ++l) lane[l] = step(lane[l], i + l);
  halve_strides<Lanes / 2>(lane, join);
  return lane[0];
}

}  // namespace invar::tree

#endif
