// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What becomes of the finished sums of a small matrix product: the bias, the rounding to c's type, the store.
#ifndef INVAR_BACKENDS_CUDA_MATRIX_SMALL_STORE_HPP
#define INVAR_BACKENDS_CUDA_MATRIX_SMALL_STORE_HPP

#include <invar/backends/cuda/matmul_operands.hpp>
#include <invar/num/arithmetic.hpp>
#include <invar/num/types.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

namespace invar::backends::cuda::small {

/// Stores c, as detail::MatmulStore does. An epilogue is a type with these two functions: prefetch(j) is a hint that
/// column j will be stored, and pair(i, j, x, y) receives the totals of (i, j) and (i, j + 1), j even, once each; row i
/// or the columns may lie beyond c.
/// \tparam C     type of c's elements
/// \tparam Bias  type of the bias' elements; void without one
template <class C, class Bias = void>
struct StoreMatrix {
  static constexpr bool has_bias = !std::is_void_v<Bias>;

  C* c;
  std::int64_t row_stride, column_stride;
  const Bias* bias;
  std::int64_t bias_stride;
  std::int64_t m, n;
  bool has_pairs;  ///< allows_pairs()

  /// True where two neighbours in a row of c, the first at an even column, can be stored as one.
  static bool allows_pairs(const C* c, std::int64_t row_stride, std::int64_t column_stride) {
    return column_stride == 1 && row_stride % 2 == 0 && reinterpret_cast<std::uintptr_t>(c) % (2 * sizeof(C)) == 0;
  }

  __device__ void prefetch([[maybe_unused]] std::int64_t j) const {
    if constexpr (has_bias)
      if (j < n) asm volatile("prefetch.global.L2 [%0];" ::"l"(bias + j * bias_stride));
  }

  __device__ void pair(std::int64_t i, std::int64_t j, float x, float y) const {
    if (i >= m || j >= n) return;
    const bool is_pair = j + 1 < n;
    if constexpr (has_bias) {
      x = num::add(x, gemm::widened(bias[j * bias_stride]));
      if (is_pair) y = num::add(y, gemm::widened(bias[(j + 1) * bias_stride]));
    }
    C* const to = c + i * row_stride + j * column_stride;
    const gemm::Pack<C, 2> both{{num::narrow<C>(x), num::narrow<C>(y)}};
    if (is_pair && has_pairs) {
      *reinterpret_cast<gemm::Pack<C, 2>*>(to) = both;
      return;
    }
    to[0] = both.v[0];
    if (is_pair) to[column_stride] = both.v[1];
  }
};

}  // namespace invar::backends::cuda::small

#endif
