// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What the CUDA kernels of a matrix unit know of a matmul.
#ifndef INVAR_BACKENDS_CUDA_MATRIX_CALL_HPP
#define INVAR_BACKENDS_CUDA_MATRIX_CALL_HPP

#include <invar/backends/cuda/matmul_operands.hpp>

#include <cstdint>

namespace invar::backends::cuda::gemm {

/// A call on operands of types A and B, whatever their views were: a as [m, k], b as [n, k].
template <class A, class B = A>
struct MatrixCall {
  MatmulInput<A> a;
  MatmulInput<B> b;
  MatmulOutput<float> out;
  std::int64_t k;
  int leaf;
  bool b_is_constant = false;  ///< no kernel in flight on the stream writes b, so that it may be read before they end
};

}  // namespace invar::backends::cuda::gemm

#endif
