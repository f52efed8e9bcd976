// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The contract of every operation that reduces a row or a vector.
#ifndef INVAR_CONTRACT_ROWS_HPP
#define INVAR_CONTRACT_ROWS_HPP

#include <invar/contract/arithmetic.hpp>

#include <string>

namespace invar::contract {

/// Fold of the leaves: the balanced binary tree whose subtrees of 2^j leaves begin at multiples of 2^j. A right
/// sibling that the row's end leaves missing is passed by without an addition. Any aligned power-of-two group of
/// leaves is one subtree, so threads, blocks or ranks may evaluate groups apart and join them.
struct AlignedTree {
  static std::string name() { return "aligned_tree"; }
};

/// Row reductions. The row is cut at absolute multiples of Leaf elements. In a leaf, lane l is the chain over elements
/// l, l + Lanes, l + 2·Lanes, … in ascending order; the lanes are joined by a stride-halving tree (lane l with lane
/// l + Lanes/2, then Lanes/4, …, 1). The leaves are folded by Fold. Sums start from −0, the exact identity of
/// addition, so an empty lane changes nothing.
///
/// \tparam Arithmetic  the roundings
/// \tparam Leaf        elements of a leaf; a power of two, a multiple of Lanes
/// \tparam Lanes       chains of a leaf; a power of two. 64 fills 4 AVX-512, 8 AVX2 or 16 NEON registers, and on a GPU
///                     8, 16 or 32 threads that load 16 bytes each of 16-, 32- or 64-bit elements
template <class Arithmetic = Ieee, int Leaf = 512, int Lanes = 64>
struct Rows {
  static_assert(is_arithmetic_v<Arithmetic>, "Invar: unknown arithmetic for contract::Rows; use invar::ieee");
  static_assert(Lanes > 0 && (Lanes & (Lanes - 1)) == 0, "Invar: contract::Rows: Lanes must be a power of two");
  static_assert(Leaf > 0 && (Leaf & (Leaf - 1)) == 0 && Leaf % Lanes == 0,
                "Invar: contract::Rows: Leaf must be a power of two and a multiple of Lanes");
  using arithmetic = Arithmetic;
  using fold = AlignedTree;
  static constexpr int leaf = Leaf;
  static constexpr int lanes = Lanes;
  static std::string name() {
    return "rows<" + Arithmetic::name() + "," + std::to_string(Leaf) + "," + std::to_string(Lanes) + "," +
           AlignedTree::name() + ">";
  }
};

template <class T>
inline constexpr bool is_rows_v = false;
template <class A, int Leaf, int Lanes>
inline constexpr bool is_rows_v<Rows<A, Leaf, Lanes>> = true;

}  // namespace invar::contract

#endif
