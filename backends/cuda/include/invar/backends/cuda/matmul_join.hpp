// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Joins the leaves' chains that different workers of matmul computed.
#ifndef INVAR_BACKENDS_CUDA_MATMUL_JOIN_HPP
#define INVAR_BACKENDS_CUDA_MATMUL_JOIN_HPP

#include <invar/backends/cuda/matmul_operands.hpp>

#include <cstdint>

namespace invar::backends::cuda::gemm {

/// A thread adds the chains of one output in ascending order of the leaves and finishes it. Without leaves the sum is
/// +0.
template <class Acc>
struct MatmulJoin {
  static constexpr int max_threads = 128;
  static constexpr int min_blocks = 1;

  MatmulOutput<Acc> out;
  std::int64_t leaves;

  __device__ void operator()() const {
    const std::int64_t size = out.m * out.n;
    const std::int64_t e = std::int64_t{blockIdx.x} * max_threads + threadIdx.x;
    if (e >= size) return;
    Acc total(leaves == 0 ? 0.0 : -0.0);
#pragma unroll 8
    for (std::int64_t leaf = 0; leaf < leaves; ++leaf) total = num::add(total, out.chains[leaf * size + e]);
    out.finish(e / out.n, e % out.n, total);
  }
};

}  // namespace invar::backends::cuda::gemm

#endif
