// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What becomes of the finished sums of matmul_silu_mul's two products.
#ifndef INVAR_BACKENDS_CUDA_MATRIX_SMALL_GATED_OUTPUT_HPP
#define INVAR_BACKENDS_CUDA_MATRIX_SMALL_GATED_OUTPUT_HPP

#include <invar/backends/cuda/matmul_operands.hpp>
#include <invar/backends/cuda/matrix_small_places.hpp>
#include <invar/num/arithmetic.hpp>
#include <invar/num/sigmoid.hpp>
#include <invar/num/types.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace invar::backends::cuda::small {

/// silu_mul of two products that were rounded to c's type, T or float: the bits of matmul_silu_mul.
template <class T>
struct GatedOutput {
  static constexpr bool is_gated = true;
  gemm::MatmulOutput<float> out;
  bool is_paired;
  bool up_is_first = false;  ///< they come in this order

  explicit GatedOutput(const gemm::MatmulOutput<float>& to)
      : out(to), is_paired(has_pairs(to.c, to.row_stride, to.column_stride, to.m, to.n, to.c_type)) {}
  static bool suits(const gemm::MatmulOutput<float>& to) {
    using gemm::Element;
    return (to.c_type == gemm::element_of<T>() || to.c_type == Element::float32) && !to.is_scaled &&
           to.bias_type == Element::none && to.residual_type == Element::none;
  }

  __device__ void prefetch(const Tile&, int, int) const {}

  template <int Pairs, class Places>
  __device__ void finish(float (&gate)[2 * Pairs], float (&up)[2 * Pairs], const Places& at) const {
    // A loop: the code of a sigmoid is long, and waits to be fetched once.
#pragma unroll 1
    for (int part = 0; part < Pairs / 2; ++part) {
      const Places place = at.from_part(part);
      if (out.c_type == gemm::element_of<T>())
        store<T>(gate, up, place);
      else
        store<float>(gate, up, place);
      shift<4>(gate);
      shift<4>(up);
    }
  }

  /// The same where the rows of the instruction are the weights: of a part's outputs two are the gate's at (i, j) and
  /// (i + 1, j), and two those of up.
  template <int Size, class Places>
  __device__ void finish_rows(float (&sums)[Size], const Places& at, bool is_odd) const {
#pragma unroll 1
    for (int part = 0; part < Size / 4; ++part) {
      const Places place = at.from_part(part);
      if (out.c_type == gemm::element_of<T>())
        store_rows<T>(sums, place, is_odd);
      else
        store_rows<float>(sums, place, is_odd);
      shift<4>(sums);
    }
  }

 private:
  template <class C>
  __device__ C gated(float gate, float up) const {
    const float g = gemm::widened(num::narrow<C>(up_is_first ? up : gate));
    const float u = gemm::widened(num::narrow<C>(up_is_first ? gate : up));
    return num::narrow<C>(num::mul_unfenced(num::mul_unfenced(g, num::sigmoid(g)), u));
  }
  template <class C, class Places>
  __device__ void store_rows(const float* sums, const Places& at, bool is_odd) const {
    const float x = gemm::widened(gated<C>(sums[0], sums[2])), y = gemm::widened(gated<C>(sums[1], sums[3]));
    const float other = __shfl_xor_sync(0xffffffffu, is_odd ? x : y, 4);
    store_pair(at, 0, num::narrow<C>(is_odd ? other : x), num::narrow<C>(is_odd ? y : other));
  }
  template <class C, class Places>
  __device__ void store_pair(const Places& at, int pair, C first, C second) const {
    const int n = static_cast<int>(out.n), i = at.i(pair), j = at.j(pair);
    if (!at.has(pair, n)) return;
    C* const to = static_cast<C*>(out.c) + i * out.row_stride + j * out.column_stride;
    if (is_paired) {
      *reinterpret_cast<gemm::Pack<C, 2>*>(to) = {{first, second}};
    } else {
      to[0] = first;
      if (j + 1 < n) to[out.column_stride] = second;
    }
  }
  /// A part.
  template <class C, class Places>
  __device__ void store(const float* gate, const float* up, const Places& at) const {
#pragma unroll
    for (int p = 0; p < 2; ++p)
      store_pair(at, p, gated<C>(gate[2 * p], up[2 * p]), gated<C>(gate[2 * p + 1], up[2 * p + 1]));
  }
};

}  // namespace invar::backends::cuda::small

#endif
