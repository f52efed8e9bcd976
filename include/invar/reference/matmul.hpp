// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The specification of matmul.
#ifndef INVAR_REFERENCE_MATMUL_HPP
#define INVAR_REFERENCE_MATMUL_HPP

#include <invar/contract/defaults.hpp>
#include <invar/epilogue.hpp>
#include <invar/num/arithmetic.hpp>
#include <invar/num/matrix_unit_operand.hpp>
#include <invar/num/types.hpp>
#include <invar/reference/matrix_unit.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace invar::reference {

namespace detail {

/// The leaf over k in [begin, end): a chain of fma from +0, or the chain of a matrix unit's groups from +0.
template <class Contract, class A, class B>
auto leaf_chain(const A& a, const B& b, std::int64_t i, std::int64_t j, std::int64_t begin, std::int64_t end) {
  using ElementA = typename A::non_const_value_type;
  using ElementB = typename B::non_const_value_type;
  num::product_sum_t<typename Contract::arithmetic, ElementA> chain(0);
  if constexpr (contract::is_matrix_unit_v<typename Contract::arithmetic>) {
    using Unit = typename Contract::arithmetic;
    for (std::int64_t group = begin; group < end; group += Unit::group) {
      std::vector<ElementA> row;
      std::vector<ElementB> column;
      for (std::int64_t k = group; k < std::min(end, group + Unit::group); ++k) {
        row.push_back(a(i, k));
        column.push_back(b(k, j));
      }
      chain = truncated_fused_dot<Unit>(row, column, chain);
    }
  } else {
    for (std::int64_t k = begin; k < end; ++k)
      chain = num::fma(num::widen(ElementA(a(i, k))), num::widen(ElementB(b(k, j))), chain);
  }
  return chain;
}

/// Σ_k a(i, k)·b(k, j): leaves added in ascending order to a total that starts at −0.
template <class Contract, class A, class B>
auto inner_product(const A& a, const B& b, std::int64_t i, std::int64_t j) {
  using Value = num::product_sum_t<typename Contract::arithmetic, typename A::non_const_value_type>;
  const auto depth = static_cast<std::int64_t>(a.extent(1));
  if (depth == 0) return Value(0);
  Value total(-0.0);
  for (std::int64_t leaf = 0; leaf < depth; leaf += Contract::leaf)
    total = num::add(total, leaf_chain<Contract>(a, b, i, j, leaf, std::min(depth, leaf + Contract::leaf)));
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

/// The same with an epilogue.
template <class Contract = contract::DefaultMatmul, class C, class A, class B, class Bias, class Residual>
void matmul(const C& c, const A& a, const B& b, const Epilogue<Bias, Residual>& epilogue) {
  using Element = typename C::value_type;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(c.extent(0)); ++i)
    for (std::int64_t j = 0; j < static_cast<std::int64_t>(c.extent(1)); ++j) {
      auto total = detail::inner_product<Contract>(a, b, i, j);
      using Value = decltype(total);
      if (epilogue.is_scaled) total = num::mul(total, Value(epilogue.scale));
      if constexpr (Epilogue<Bias, Residual>::has_bias)
        total = num::add(total, num::widen(typename Bias::non_const_value_type(epilogue.bias(j))));
      if constexpr (Epilogue<Bias, Residual>::has_residual)
        total = num::add(Value(num::widen(num::narrow<Element>(total))),
                         num::widen(typename Residual::non_const_value_type(epilogue.residual(i, j))));
      c(i, j) = num::narrow<Element>(total);
    }
}

/// c(i, j) = (Σ_k a(i, k)·b(k, j)) + bias(j), rounded to c's type.
template <class Contract = contract::DefaultMatmul, class C, class A, class B, class Bias>
void matmul(const C& c, const A& a, const B& b, const Bias& bias) {
  matmul<Contract>(c, a, b, epilogue().with_bias(bias));
}

}  // namespace invar::reference

#endif
