// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What becomes of the finished sums of a small matrix product: the epilogue, the rounding to c's type, the store.
#ifndef INVAR_BACKENDS_CUDA_MATRIX_SMALL_OUTPUT_HPP
#define INVAR_BACKENDS_CUDA_MATRIX_SMALL_OUTPUT_HPP

#include <invar/backends/cuda/matmul_operands.hpp>
#include <invar/backends/cuda/matrix_small_places.hpp>
#include <invar/num/arithmetic.hpp>
#include <invar/num/types.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace invar::backends::cuda::small {

/// The bits of MatmulOutput::finish(), which takes what is not usual.
template <class T>
struct SmallOutput {
  static constexpr bool is_gated = false;
  gemm::MatmulOutput<float> out;
  bool is_usual;  ///< c and the residual are T or float, in pairs, and of one type
  bool is_plain;  ///< moreover there is no epilogue, and c is T

  explicit SmallOutput(const gemm::MatmulOutput<float>& to) : out(to) {
    using gemm::Element;
    const auto is_known = [](Element type) { return type == gemm::element_of<T>() || type == Element::float32; };
    is_usual = is_known(out.c_type) && has_pairs(out.c, out.row_stride, out.column_stride, out.m, out.n, out.c_type) &&
               (out.bias_type == Element::none || is_known(out.bias_type)) &&
               (out.residual_type == Element::none ||
                (out.residual_type == out.c_type && has_pairs(out.residual, out.residual_row_stride,
                                                              out.residual_column_stride, out.m, out.n, out.c_type)));
    is_plain = is_usual && out.c_type == gemm::element_of<T>() && !out.is_scaled && out.bias_type == Element::none &&
               out.residual_type == Element::none;
  }

  /// A hint that a tile will be finished; a warp calls it.
  __device__ void prefetch(const Tile& tile, int rows, int columns) const {
    if (is_plain) return;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int end_i = tile.m - tile.i < rows ? tile.m : tile.i + rows, n = static_cast<int>(out.n);
    const int end_j = n - tile.j < columns ? n : tile.j + columns;
    if (out.bias_type != gemm::Element::none) {
#pragma unroll 1
      for (int j = tile.j + lane; j < end_j; j += 32) hint(out.bias, out.bias_type, j * out.bias_stride);
    }
    if (out.residual_type == gemm::Element::none || !is_usual) return;
#pragma unroll 1
    for (int i = tile.i + lane; i < end_i; i += 32) {
#pragma unroll 1
      for (int j = tile.j; j < end_j; j += 32) hint(out.residual, out.c_type, i * out.residual_row_stride + j);
    }
  }

  template <int Pairs, class Places>
  __device__ void finish(float (&sums)[2 * Pairs], const Places& at) const {
    const int n = static_cast<int>(out.n);
    // What is plain is straight code: in a cold start every jump waits for memory.
    if (is_plain) [[likely]] {
      typename Places::template Walk<T> to(static_cast<T*>(out.c), out.row_stride, at);
#pragma unroll
      for (int p = 0; p < Pairs; ++p) {
        if (at.has(p, n)) to.store(p % 2, num::narrow<T>(sums[2 * p]), num::narrow<T>(sums[2 * p + 1]));
        if (p % 2 == 1) to.next_part();
      }
      return;
    }
    // The rest in little code: some parts at a time.
    constexpr int parts = Pairs / 2, most = parts >= 16 ? 2 : 4;
    constexpr int group = parts % most == 0 ? most : parts % 3 == 0 ? 3 : parts % 2 == 0 ? 2 : 1;
#pragma unroll 1
    for (int part = 0; part < parts; part += group) {
      float some[4 * group];
#pragma unroll
      for (int r = 0; r < 4 * group; ++r) some[r] = sums[r];
      if (!is_usual)
        finish_one_by_one<2 * group>(some, at.from_part(part));
      else if (out.c_type == gemm::Element::float32)
        finish_usual<2 * group, float>(some, at.from_part(part));
      else
        finish_usual<2 * group, T>(some, at.from_part(part));
      shift<4 * group>(sums);
    }
  }

 private:
  static __device__ void hint(const void* data, gemm::Element type, std::int64_t element) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(static_cast<const char*>(data) +
                                                  element * (type == gemm::Element::float32 ? 4 : 2)));
  }

  /// Everything is on its way before the first of it is needed.
  template <int Pairs, class C, class Places>
  __device__ void finish_usual(float (&sums)[2 * Pairs], const Places& at) const {
    const int n = static_cast<int>(out.n);
    if (out.is_scaled) {
#pragma unroll
      for (int r = 0; r < 2 * Pairs; ++r) sums[r] = num::mul(sums[r], out.scale);
    }
    if (out.bias_type != gemm::Element::none) {
      const bool is_float = out.bias_type == gemm::Element::float32;
      float bias[2 * Pairs] = {};
#pragma unroll
      for (int r = 0; r < 2 * Pairs; ++r) {
        const std::int64_t from = (at.j(r / 2) + r % 2) * out.bias_stride;
        const bool is_there = at.has(r / 2, n);
        if (is_there && is_float) bias[r] = static_cast<const float*>(out.bias)[from];
        if (is_there && !is_float) bias[r] = gemm::widened(static_cast<const T*>(out.bias)[from]);
      }
#pragma unroll
      for (int r = 0; r < 2 * Pairs; ++r) sums[r] = num::add(sums[r], bias[r]);
    }
    if (out.residual_type != gemm::Element::none) {
      float residual[2 * Pairs] = {};
      typename Places::template Walk<const C> from(static_cast<const C*>(out.residual), out.residual_row_stride, at);
#pragma unroll
      for (int p = 0; p < Pairs; ++p) {
        if (at.has(p, n)) from.load(p % 2, residual[2 * p], residual[2 * p + 1]);
        if (p % 2 == 1) from.next_part();
      }
#pragma unroll
      for (int r = 0; r < 2 * Pairs; ++r) sums[r] = num::add(gemm::widened(num::narrow<C>(sums[r])), residual[r]);
    }
    typename Places::template Walk<C> to(static_cast<C*>(out.c), out.row_stride, at);
#pragma unroll
    for (int p = 0; p < Pairs; ++p) {
      if (at.has(p, n)) to.store(p % 2, num::narrow<C>(sums[2 * p]), num::narrow<C>(sums[2 * p + 1]));
      if (p % 2 == 1) to.next_part();
    }
  }

  /// Any types and strides.
  template <int Pairs, class Places>
  __device__ void finish_one_by_one(float (&sums)[2 * Pairs], const Places& at) const {
#pragma unroll 1
    for (int r = 0; r < 2 * Pairs; ++r) {
      const int i = at.i(r / 2), j = at.j(r / 2) + r % 2, n = static_cast<int>(out.n);
      if (at.has(r / 2, n) && j < n) out.finish(i, j, sums[0]);
      shift<1>(sums);
    }
  }
};

}  // namespace invar::backends::cuda::small

#endif
