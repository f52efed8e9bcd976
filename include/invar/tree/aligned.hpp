// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The fold AlignedTree, evaluated as a stream.
#ifndef INVAR_TREE_ALIGNED_HPP
#define INVAR_TREE_ALIGNED_HPP

#include <Kokkos_Macros.hpp>
#include <cstdint>

namespace invar::tree {

/// The number of leaves of size `leaf` that cover n elements.
KOKKOS_FORCEINLINE_FUNCTION constexpr std::int64_t leaf_count(std::int64_t n, std::int64_t leaf) {
  return n / leaf + (n % leaf != 0);
}

/// The subtree over nodes [begin, end), end > begin, where begin is a multiple of a power of two that is at least
/// end − begin. Nodes come in ascending order; like the carries of a binary counter, two finished subtrees of one
/// size are joined at once, so only one subtree of each size is held.
///
/// \param node  node(index): a leaf, or the root of a finished subtree
/// \param join  join(left, right)
template <class Value, class Node, class Join>
KOKKOS_INLINE_FUNCTION Value fold_aligned(std::int64_t begin, std::int64_t end, const Node& node, const Join& join) {
  constexpr int levels = 40;  // more leaves than memory holds
  Value held[levels];
  std::uint64_t count = 0;  // bit j set: held[j] is a finished subtree of 2^j nodes
  for (std::int64_t i = begin; i < end; ++i, ++count) {
    Value value = node(i);
    if (end - begin == 1) return value;  // on a GPU this keeps short rows out of `held`, which lies in memory there
    int level = 0;
    for (; (count >> level) & 1u; ++level) value = join(held[level], value);
    held[level] = value;
  }
  int level = 0;
  while (((count >> level) & 1u) == 0) ++level;
  Value value = held[level];
  for (++level; (count >> level) != 0; ++level)
    if ((count >> level) & 1u) value = join(held[level], value);
  return value;
}

}  // namespace invar::tree

#endif
