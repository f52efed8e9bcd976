// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The operands of a small matrix product.
#ifndef INVAR_BACKENDS_CUDA_MATRIX_SMALL_OPERANDS_HPP
#define INVAR_BACKENDS_CUDA_MATRIX_SMALL_OPERANDS_HPP

#include <invar/backends/cuda/matmul_operands.hpp>

#include <cstdint>

namespace invar::backends::cuda::small {

/// a·b with one 16-bit type: a is [m, k], b as [n, k].
template <class T>
struct Operands {
  gemm::MatmulInput<T> a, b;
  std::int64_t m, n, k;
  int leaf;
  bool b_is_constant = false;  ///< no kernel in flight on the stream writes b, so that it may be read before they end
};

}  // namespace invar::backends::cuda::small

#endif
