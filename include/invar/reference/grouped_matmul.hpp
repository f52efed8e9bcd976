// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The specification of grouped_matmul.
#ifndef INVAR_REFERENCE_GROUPED_MATMUL_HPP
#define INVAR_REFERENCE_GROUPED_MATMUL_HPP

#include <invar/reference/matmul.hpp>
#include <invar/tree/matrices.hpp>

#include <cstddef>
#include <cstdint>

namespace invar::reference {

/// Rows offsets(g) … offsets(g + 1) − 1 of c are matmul of those rows of a with b(g, :, :). Other rows are left alone.
template <class Contract = contract::DefaultMatmul, class C, class A, class B, class Offsets>
void grouped_matmul(const C& c, const A& a, const B& b, const Offsets& offsets) {
  for (std::size_t g = 0; g < b.extent(0); ++g) {
    const std::int64_t begin = offsets(g), end = offsets(g + 1);
    matmul<Contract>(tree::rows_of(c, begin, end), tree::rows_of(a, begin, end), tree::matrix_of(b, g));
  }
}

}  // namespace invar::reference

#endif
