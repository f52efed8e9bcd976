// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The contract of matrix products.
#ifndef INVAR_CONTRACT_MATMUL_HPP
#define INVAR_CONTRACT_MATMUL_HPP

#include <invar/contract/arithmetic.hpp>

#include <string>

namespace invar::contract {

/// Every output is a sum over k, cut at absolute multiples of Leaf. A leaf is one chain acc = fma(a, b, acc) over
/// ascending k that starts at +0. The running total starts at −0 and adds the leaves in ascending order, each addition
/// rounded to nearest. A bias, if given, is added to the total, and the sum is rounded to the output's type.
///
/// \tparam Arithmetic  the roundings
/// \tparam Leaf        length of a leaf along k. 512 cuts the error of one long chain to about a third at K = 4096, and
///                     equals the k-blocking that caches ask for; it never depends on the shape
template <class Arithmetic = Ieee, int Leaf = 512>
struct Matmul {
  static_assert(is_arithmetic_v<Arithmetic>, "Invar: unknown arithmetic for contract::Matmul; use invar::ieee");
  static_assert(Leaf > 0, "Invar: contract::Matmul: Leaf must be positive");
  using arithmetic = Arithmetic;
  static constexpr int leaf = Leaf;
  static std::string name() { return "matmul<" + Arithmetic::name() + "," + std::to_string(Leaf) + ">"; }
};

template <class T>
inline constexpr bool is_matmul_v = false;
template <class A, int Leaf>
inline constexpr bool is_matmul_v<Matmul<A, Leaf>> = true;

}  // namespace invar::contract

#endif
