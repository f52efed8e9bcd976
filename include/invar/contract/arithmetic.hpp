// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Arithmetics: which hardware rounding a contract is built from. Types only; the roundings are in num/.
#ifndef INVAR_CONTRACT_ARITHMETIC_HPP
#define INVAR_CONTRACT_ARITHMETIC_HPP

#include <string>
#include <type_traits>

namespace invar::contract {

/// Correctly rounded fma, add, mul, div and sqrt (IEEE 754, to nearest, ties to even, subnormals kept), and Invar's
/// own elementary functions built from them. The same bits on every processor.
struct Ieee {
  static std::string name() { return "ieee"; }
};

/// True for the arithmetics that this version of Invar implements.
template <class T>
inline constexpr bool is_arithmetic_v = std::is_same_v<T, Ieee>;

}  // namespace invar::contract

namespace invar {
/// The arithmetic of every default contract.
using ieee = contract::Ieee;
}  // namespace invar

#endif
