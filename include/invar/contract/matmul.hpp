// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The contract of matrix products.
#ifndef INVAR_CONTRACT_MATMUL_HPP
#define INVAR_CONTRACT_MATMUL_HPP

#include <invar/contract/arithmetic.hpp>
#include <invar/contract/matrix_unit.hpp>

#include <string>
#include <type_traits>

namespace invar::contract {

/// The leaf that makes every output a single chain over k. A longer k is refused.
inline constexpr int whole_k = 1 << 30;

namespace detail {
template <class Arithmetic, class Result>
constexpr int default_leaf() {
  if constexpr (is_matrix_unit_v<Arithmetic>)
    return Arithmetic::result_bits < 23 ? 128 : std::is_same_v<Result, float> ? 512 : 2048;
  else
    return 512;
}
}  // namespace detail

/// The leaf that a matmul has unless it names one, by its arithmetic and the type of its result. It never depends on
/// the shape.
///
/// With ieee, 512 cuts the error of one long chain to about a third at K = 4096, and equals the k-blocking that caches
/// ask for. A matrix unit cuts toward zero, so that its errors add up along a chain, and a leaf bounds them whatever K
/// is: 2048 keeps them near 1e-5 of Σ|a·b| where no term cancels another, far below the rounding to a 16-bit type, and
/// costs hardly any speed; for a float result 512 is about as accurate as a chain of float fma. Units that keep fewer
/// bits than a float has need shorter chains: 128, four groups of Hopper's fp8, as is usual for them.
template <class Arithmetic, class Result = void>
inline constexpr int default_leaf_v = detail::default_leaf<Arithmetic, Result>();

/// Every output is a sum over k, cut at absolute multiples of Leaf. The running total starts at −0 and adds the leaves
/// in ascending order, each addition rounded to nearest. A bias, if given, is added to the total, and the sum is
/// rounded to the output's type.
///
/// With ieee, a leaf is one chain acc = fma(a, b, acc) over ascending k that starts at +0. With a matrix unit, it is
/// the chain over ascending groups of k that starts at +0, each group added to acc as the unit does; a group that K
/// leaves short is filled up with zeros.
///
/// \tparam Arithmetic  the roundings: ieee, or a matrix unit
/// \tparam Leaf        length of a leaf along k, a multiple of a matrix unit's group
template <class Arithmetic = Ieee, int Leaf = default_leaf_v<Arithmetic>>
struct Matmul {
  static_assert(is_arithmetic_v<Arithmetic> || is_matrix_unit_v<Arithmetic>,
                "Invar: unknown arithmetic for contract::Matmul; use invar::ieee");
  static_assert(Leaf > 0, "Invar: contract::Matmul: Leaf must be positive");
  using arithmetic = Arithmetic;
  static constexpr int leaf = Leaf;
  static std::string name() {
    return "matmul<" + Arithmetic::name() + "," + (Leaf == whole_k ? "whole_k" : std::to_string(Leaf)) + ">";
  }

 private:
  static constexpr bool is_cut_at_groups() {
    if constexpr (is_matrix_unit_v<Arithmetic>)
      return Leaf % Arithmetic::group == 0;
    else
      return true;
  }
  static_assert(is_cut_at_groups(), "Invar: contract::Matmul: Leaf must be a multiple of the matrix unit's group");
};

/// The contract with the leaf that suits results of type Result.
template <class Arithmetic, class Result>
using MatmulTo = Matmul<Arithmetic, default_leaf_v<Arithmetic, Result>>;

/// One chain over all of k: for matrix units the bits of libraries that do not split k.
template <class Arithmetic>
using SingleChainMatmul = Matmul<Arithmetic, whole_k>;

template <class T>
inline constexpr bool is_matmul_v = false;
template <class A, int Leaf>
inline constexpr bool is_matmul_v<Matmul<A, Leaf>> = true;

}  // namespace invar::contract

#endif
