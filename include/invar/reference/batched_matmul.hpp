// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The specification of batched_matmul.
#ifndef INVAR_REFERENCE_BATCHED_MATMUL_HPP
#define INVAR_REFERENCE_BATCHED_MATMUL_HPP

#include <invar/reference/matmul.hpp>
#include <invar/tree/matrices.hpp>

#include <cstddef>

namespace invar::reference {

/// matmul of matrix after matrix, with an epilogue of which each takes its part.
template <class Contract = contract::DefaultMatmul, class C, class A, class B, class Bias, class Residual>
void batched_matmul(const C& c, const A& a, const B& b, const Epilogue<Bias, Residual>& epilogue) {
  for (std::size_t i = 0; i < c.extent(0); ++i)
    matmul<Contract>(tree::matrix_of(c, i), tree::matrix_of(a, i), tree::matrix_of(b, i),
                     tree::epilogue_of(epilogue, i));
}

/// c(i, :, :) = a(i, :, :)·b(i, :, :).
template <class Contract = contract::DefaultMatmul, class C, class A, class B>
void batched_matmul(const C& c, const A& a, const B& b) {
  batched_matmul<Contract>(c, a, b, epilogue());
}

/// c(i, :, :) = a(i, :, :)·b(i, :, :), and the bias is added to every row.
template <class Contract = contract::DefaultMatmul, class C, class A, class B, class Bias>
void batched_matmul(const C& c, const A& a, const B& b, const Bias& bias) {
  batched_matmul<Contract>(c, a, b, epilogue().with_bias(bias));
}

}  // namespace invar::reference

#endif
