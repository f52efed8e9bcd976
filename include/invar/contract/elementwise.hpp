// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The contract of operations in which every output element is a formula of a few inputs, without a reduction.
#ifndef INVAR_CONTRACT_ELEMENTWISE_HPP
#define INVAR_CONTRACT_ELEMENTWISE_HPP

#include <invar/contract/arithmetic.hpp>

#include <string>

namespace invar::contract {

/// The roundings are those of the operation's formula, in the order in which its documentation writes them.
template <class Arithmetic = Ieee>
struct Elementwise {
  static_assert(is_arithmetic_v<Arithmetic>, "Invar: unknown arithmetic for contract::Elementwise; use invar::ieee");
  using arithmetic = Arithmetic;
  static std::string name() { return "elementwise<" + Arithmetic::name() + ">"; }
};

template <class T>
inline constexpr bool is_elementwise_v = false;
template <class A>
inline constexpr bool is_elementwise_v<Elementwise<A>> = true;

}  // namespace invar::contract

#endif
