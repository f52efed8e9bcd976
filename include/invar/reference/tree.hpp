// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The reduction trees of contract::Rows, written as their definition: recursively, on the host, one leaf after
/// another.
#ifndef INVAR_REFERENCE_TREE_HPP
#define INVAR_REFERENCE_TREE_HPP

#include <algorithm>
#include <cstdint>
#include <vector>

namespace invar::reference {

/// The stride-halving tree over lanes.
template <class Value, class Join>
Value join_lanes(std::vector<Value> lane, const Join& join) {
  while (lane.size() > 1) {
    const std::size_t half = lane.size() / 2;
    for (std::size_t l = 0; l < half; ++l) lane[l] = join(lane[l], lane[l + half]);
    lane.resize(half);
  }
  return lane.front();
}

/// One leaf: element i of the leaf belongs to lane i mod Lanes, and each lane is a chain in ascending order.
template <class Contract, class Value, class Step, class Join>
Value leaf(std::int64_t begin, std::int64_t end, Value identity, const Step& step, const Join& join) {
  std::vector<Value> lane(Contract::lanes, identity);
  for (std::int64_t i = begin; i < end; ++i) {
    Value& chain = lane[(i - begin) % Contract::lanes];
    chain = step(chain, i);
  }
  return join_lanes(lane, join);
}

/// The aligned tree over leaves [begin, end): the left subtree holds the largest power of two of leaves that leaves
/// something to the right.
template <class Value, class Leaf, class Join>
Value aligned_tree(std::int64_t begin, std::int64_t end, const Leaf& leaf_value, const Join& join) {
  if (end - begin == 1) return leaf_value(begin);
  std::int64_t left = 1;
  while (2 * left < end - begin) left *= 2;
  return join(aligned_tree<Value>(begin, begin + left, leaf_value, join),
              aligned_tree<Value>(begin + left, end, leaf_value, join));
}

/// A whole row of n > 0 elements, where leaf_value(begin, end) is the value of the leaf that holds these elements.
template <class Contract, class Value, class Leaf, class Join>
Value row(std::int64_t n, const Leaf& leaf_value, const Join& join) {
  constexpr std::int64_t size = Contract::leaf;
  return aligned_tree<Value>(
      0, (n + size - 1) / size, [&](std::int64_t i) { return leaf_value(i * size, std::min(n, (i + 1) * size)); },
      join);
}

}  // namespace invar::reference

#endif
