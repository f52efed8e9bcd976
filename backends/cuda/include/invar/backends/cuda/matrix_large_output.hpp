// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What a kernel of the matrix unit for many rows of a knows of c, and the instructions that bring a tile there.
#ifndef INVAR_BACKENDS_CUDA_MATRIX_LARGE_OUTPUT_HPP
#define INVAR_BACKENDS_CUDA_MATRIX_LARGE_OUTPUT_HPP

#include <invar/backends/cuda/matmul_operands.hpp>

#include <cuda.h>

#include <cstdint>
#include <type_traits>

namespace invar::backends::cuda::gemm {

/// The 16-bit type of c that sums are rounded to in registers.
template <class A>
using LargePacked = std::conditional_t<sizeof(A) == 2, A, bfloat16_t>;

/// How a tile reaches c.
enum class LargeStore : int {
  pairs,    ///< c is of LargePacked: rounded in registers, stored by TMA if it can
  floats,   ///< c is of float and TMA can take it
  elements  ///< any type, layout and epilogue
};

/// What a kernel knows of c.
struct LargeOutput {
  CUtensorMap map;  ///< unless elements; boxes of 64 rows and 128 bytes, or of a block of pairs
  MatmulOutput<float> out;
  LargeStore store;
  int sent_columns;  ///< only boxes that end no later are stored by TMA: it stores whole pieces of 16 bytes
};

/// A pair of values as T, the first in the low half; a NaN becomes 0x7fff, in one instruction.
template <class T>
__device__ inline std::uint32_t rounded_pair(float first, float second) {
#if defined(__CUDA_ARCH__)
  return num::round_pair<T>(first, second);
#else
  return num::narrow<T>(first).bits | static_cast<std::uint32_t>(num::narrow<T>(second).bits) << 16;
#endif
}

/// The same pair with every NaN canonical.
template <class T>
__device__ inline std::uint32_t canonical_pair(std::uint32_t pair) {
  constexpr std::uint32_t change = 0x7fffu ^ (std::is_same_v<T, bfloat16_t> ? 0x7fc0u : 0x7e00u);
  if ((pair & 0xffffu) == 0x7fffu) pair ^= change;
  if (pair >> 16 == 0x7fffu) pair ^= change << 16;
  return pair;
}

/// Stores 8 × 8 matrices of 16-bit elements: lane l has elements 2·(l % 4) and + 1 of row l / 4 of each, and names row
/// l % 8 of matrix l / 8.
__device__ inline void store_matrices(std::uint32_t shared, const std::uint32_t (&words)[4]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(shared), "r"(words[0]),
               "r"(words[1]), "r"(words[2]), "r"(words[3])
               : "memory");
#endif
}

/// Waits for the other threads of a warpgroup. Barrier 0 is __syncthreads().
__device__ inline void wait_for_group(int group) { asm volatile("bar.sync %0, 128;" ::"r"(group + 1) : "memory"); }

/// The same value, of which the compiler knows nothing: so it computes what follows from it where it is used, instead
/// of keeping it in registers over the whole kernel.
__device__ inline std::uint32_t opaque(std::uint32_t value) {
  asm volatile("" : "+r"(value));
  return value;
}

}  // namespace invar::backends::cuda::gemm

#endif
