// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What the CUDA kernels of matmul know of a call: pointers, strides and element types instead of views, so that one
/// kernel serves every view type.
#ifndef INVAR_BACKENDS_CUDA_MATMUL_OPERANDS_HPP
#define INVAR_BACKENDS_CUDA_MATMUL_OPERANDS_HPP

#include <invar/backends/cuda/matmul_instructions.hpp>
#include <invar/num/arithmetic.hpp>
#include <invar/num/types.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

namespace invar::backends::cuda::gemm {

/// N elements that move as one. Up to 16 bytes.
template <class T, int N>
struct alignas(sizeof(T) * N) Pack {
  T v[N];
};

/// The element type of an output or a bias, known at run time.
enum class Element : int { none, float32, float64, bfloat16, float16, symbol };

template <class T>
KOKKOS_FUNCTION constexpr Element element_of() {
  if constexpr (std::is_same_v<T, float>)
    return Element::float32;
  else if constexpr (std::is_same_v<T, double>)
    return Element::float64;
  else if constexpr (std::is_same_v<T, bfloat16_t>)
    return Element::bfloat16;
  else if constexpr (std::is_same_v<T, float16_t>)
    return Element::float16;
  else {
    static_assert(num::Symbolic<T>, "Invar: matmul: unsupported element type");
    return Element::symbol;
  }
}

/// a as [m, k], or b as [n, k]: element (row, k) is data[row·row_stride + k·k_stride].
template <class T>
struct MatmulInput {
  const T* data;
  std::int64_t row_stride;
  std::int64_t k_stride;

  /// True where `leaf` elements along k start on 16 bytes in every row.
  bool is_vector_along_k(int leaf) const { return k_stride == 1 && is_aligned(row_stride) && is_aligned(leaf); }
  /// True where every k has its rows contiguous and starting on 16 bytes.
  bool is_vector_along_rows() const { return row_stride == 1 && is_aligned(k_stride); }

 private:
  bool is_aligned(std::int64_t stride) const {
    return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && stride * static_cast<std::int64_t>(sizeof(T)) % 16 == 0;
  }
};

/// c and the bias; or, where the leaves of an output have different workers, their chains.
template <class Acc>
struct MatmulOutput {
  void* c;
  std::int64_t row_stride;
  std::int64_t column_stride;
  const void* bias;
  std::int64_t bias_stride;
  Acc* chains;  ///< [leaves, m, n], or null
  std::int64_t m, n;
  Element c_type;
  Element bias_type;      ///< none without a bias
  Element residual_type;  ///< none without a residual
  bool is_scaled;
  Acc scale;
  const void* residual;
  std::int64_t residual_row_stride, residual_column_stride;

  /// True where totals need no more than the rounding to c's type.
  __device__ bool is_plain() const {
    return !is_scaled && bias_type == Element::none && residual_type == Element::none;
  }

  /// What follows the total: the epilogue, the rounding to c's type, the store.
  __device__ void finish(std::int64_t i, std::int64_t j, Acc total) const {
    total = after_epilogue(i, j, total);
    const std::int64_t offset = i * row_stride + j * column_stride;
    if constexpr (std::is_same_v<Acc, float>) {
      switch (c_type) {
        case Element::float32: return narrow_to<float>(offset, total);
        case Element::float64: return narrow_to<double>(offset, total);
        case Element::bfloat16: return narrow_to<bfloat16_t>(offset, total);
        default: return narrow_to<float16_t>(offset, total);
      }
    } else if constexpr (std::is_same_v<Acc, double>) {
      if (c_type == Element::float32) return narrow_to<float>(offset, total);
      narrow_to<double>(offset, total);
    } else {
      narrow_to<Acc>(offset, total);
    }
  }

  /// A finished total, or the chain of one leaf where chains are kept.
  __device__ void store(std::int64_t leaf, std::int64_t i, std::int64_t j, Acc value) const {
    if (chains != nullptr)
      chains[(leaf * m + i) * n + j] = value;
    else
      finish(i, j, value);
  }

  /// True where columns up to `end` exist, and 16 bytes of them, from a multiple of 16 bytes on, are stored as one.
  __device__ bool has_vectors(std::int64_t end) const {
    if (end > n) return false;
    if (chains != nullptr) return n * sizeof(Acc) % 16 == 0;
    return c_type == element_of<Acc>() && column_stride == 1 && row_stride * sizeof(Acc) % 16 == 0 &&
           reinterpret_cast<std::uintptr_t>(c) % 16 == 0;
  }
  /// store() of (i, j) and what follows in the row, where has_vectors().
  template <int N>
  __device__ void store_vector(std::int64_t leaf, std::int64_t i, std::int64_t j, Pack<Acc, N> values) const {
    if (chains != nullptr) {
      *reinterpret_cast<Pack<Acc, N>*>(chains + (leaf * m + i) * n + j) = values;
      return;
    }
    if (!is_plain()) {
#pragma unroll
      for (int v = 0; v < N; ++v) values.v[v] = after_epilogue(i, j + v, values.v[v]);
    }
#pragma unroll
    for (int v = 0; v < N; ++v) values.v[v] = num::narrow<Acc>(values.v[v]);
    *reinterpret_cast<Pack<Acc, N>*>(static_cast<Acc*>(c) + i * row_stride + j) = values;
  }

 private:
  template <class T>
  __device__ void narrow_to(std::int64_t offset, Acc value) const {
    static_cast<T*>(c)[offset] = num::narrow<T>(value);
  }
  static __device__ Acc operand_at(const void* operand, Element type, std::int64_t offset) {
    if constexpr (std::is_same_v<Acc, float>) {
      if (type == Element::bfloat16) return widened(static_cast<const bfloat16_t*>(operand)[offset]);
      if (type == Element::float16) return widened(static_cast<const float16_t*>(operand)[offset]);
    }
    return static_cast<const Acc*>(operand)[offset];
  }
  /// As an output that is stored and read again.
  __device__ Acc rounded_to_c(Acc total) const {
    if constexpr (std::is_same_v<Acc, float>) {
      if (c_type == Element::bfloat16) return widened(num::narrow<bfloat16_t>(total));
      if (c_type == Element::float16) return widened(num::narrow<float16_t>(total));
    } else if constexpr (std::is_same_v<Acc, double>) {
      if (c_type == Element::float32) return num::narrow<float>(total);
    }
    return num::narrow<Acc>(total);
  }
  /// As detail::MatmulStore has it.
  __device__ Acc after_epilogue(std::int64_t i, std::int64_t j, Acc total) const {
    if (is_scaled) total = num::mul(total, scale);
    if (bias_type != Element::none) total = num::add(total, operand_at(bias, bias_type, j * bias_stride));
    if (residual_type != Element::none)
      total = num::add(rounded_to_c(total),
                       operand_at(residual, residual_type, i * residual_row_stride + j * residual_column_stride));
    return total;
  }
};

/// a of a matmul.
template <class View>
MatmulInput<typename View::non_const_value_type> rows_of(const View& a) {
  return {a.data(), static_cast<std::int64_t>(a.stride(0)), static_cast<std::int64_t>(a.stride(1))};
}
/// b of a matmul.
template <class View>
MatmulInput<typename View::non_const_value_type> columns_of(const View& b) {
  return {b.data(), static_cast<std::int64_t>(b.stride(1)), static_cast<std::int64_t>(b.stride(0))};
}
/// c and the epilogue of a matmul.
template <class Acc, class View, class Epilogue>
MatmulOutput<Acc> output_of(const View& c, const Epilogue& epilogue) {
  MatmulOutput<Acc> out{};
  out.c = c.data();
  out.row_stride = static_cast<std::int64_t>(c.stride(0));
  out.column_stride = static_cast<std::int64_t>(c.stride(1));
  out.m = static_cast<std::int64_t>(c.extent(0));
  out.n = static_cast<std::int64_t>(c.extent(1));
  out.c_type = element_of<typename View::value_type>();
  out.is_scaled = epilogue.is_scaled;
  out.scale = Acc(epilogue.scale);
  if constexpr (Epilogue::has_bias) {
    out.bias = epilogue.bias.data();
    out.bias_stride = static_cast<std::int64_t>(epilogue.bias.stride(0));
    out.bias_type = element_of<typename Epilogue::Bias::non_const_value_type>();
  }
  if constexpr (Epilogue::has_residual) {
    out.residual = epilogue.residual.data();
    out.residual_row_stride = static_cast<std::int64_t>(epilogue.residual.stride(0));
    out.residual_column_stride = static_cast<std::int64_t>(epilogue.residual.stride(1));
    out.residual_type = element_of<typename Epilogue::Residual::non_const_value_type>();
  }
  return out;
}

/// A step along k.
struct Step {
  int depth;       ///< positions of k
  bool ends_leaf;  ///< the leaf's chains are complete after it
};

/// Walks k in steps inside the leaves first, first + stride, …; a step ends at the end of its leaf.
class LeafWalk {
 public:
  /// \param length  of a leaf
  __device__ LeafWalk(std::int64_t k, int length, std::int64_t first, std::int64_t stride)
      : k_(k), skip_((stride - 1) * length), at_(first * length), length_(length) {
    enter();
  }
  __device__ bool done() const { return at_ >= k_; }
  /// The position where the next step starts.
  __device__ std::int64_t at() const { return at_; }
  /// The next step, of at most `most` positions.
  __device__ Step step(int most) const { return {left_ < most ? left_ : most, left_ <= most}; }
  __device__ void advance(Step step) {
    at_ += step.depth;
    left_ -= step.depth;
    if (!step.ends_leaf) return;
    at_ += skip_;
    enter();
  }

 private:
  __device__ void enter() { left_ = k_ - at_ < length_ ? static_cast<int>(k_ - at_) : length_; }

  std::int64_t k_;
  std::int64_t skip_;  // from a leaf's end to the start of the next
  std::int64_t at_;
  int length_;
  int left_;  // positions of the current leaf
};

}  // namespace invar::backends::cuda::gemm

#endif
