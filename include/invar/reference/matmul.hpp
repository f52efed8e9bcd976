// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The specification of matmul.
#ifndef INVAR_REFERENCE_MATMUL_HPP
#define INVAR_REFERENCE_MATMUL_HPP

#include <invar/contract/defaults.hpp>
#include <invar/num/arithmetic.hpp>
#include <invar/num/types.hpp>

#include <algorithm>
#include <cstdint>

namespace invar::reference {

namespace detail {

/// Σ_k a(i, k)·b(k, j): leaves of fma chains from +0, added in ascending order to a total that starts at −0.
template <class Contract, class A, class B>
auto inner_product(const A& a, const B& b, std::int64_t i, std::int64_t j) {
  using Value = num::accumulator_t<typename A::non_const_value_type>;
  const auto depth = static_cast<std::int64_t>(a.extent(1));
  if (depth == 0) return Value(0);
  Value total(-0.0);
  for (std::int64_t leaf = 0; leaf < depth; leaf += Contract::leaf) {
    Value chain(0);
    for (std::int64_t k = leaf; k < std::min(depth, leaf + Contract::leaf); ++k)
      chain = num::fma(num::widen(typename A::non_const_value_type(a(i, k))),
                       num::widen(typename B::non_const_value_type(b(k, j))), chain);
    total = num::add(total, chain);
  }
  return total;
}

}  // namespace detail

/// c(i, j) = Σ_k a(i, k)·b(k, j), rounded to c's type.
template <class Contract = contract::DefaultMatmul, class C, class A, class B>
void matmul(const C& c, const A& a, const B& b) {
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(c.extent(0)); ++i)
    for (std::int64_t j = 0; j < static_cast<std::int64_t>(c.extent(1)); ++j)
      c(i, j) = num::narrow<typename C::value_type>(detail::inner_product<Contract>(a, b, i, j));
}

/// c(i, j) = (Σ_k a(i, k)·b(k, j)) + bias(j), rounded to c's type.
template <class Contract = contract::DefaultMatmul, class C, class A, class B, class Bias>
void matmul(const C& c, const A& a, const B& b, const Bias& bias) {
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(c.extent(0)); ++i)
    for (std::int64_t j = 0; j < static_cast<std::int64_t>(c.extent(1)); ++j)
      c(i, j) = num::narrow<typename C::value_type>(num::add(detail::inner_product<Contract>(a, b, i, j),
                                                             num::widen(typename Bias::non_const_value_type(bias(j)))));
}

}  // namespace invar::reference

#endif
