// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What the general kernel of matrix units computes: one product; products of many matrices; or rows in groups, each of
/// which meets a matrix of its own.
#ifndef INVAR_BACKENDS_CUDA_MATRIX_MMA_PROBLEM_HPP
#define INVAR_BACKENDS_CUDA_MATRIX_MMA_PROBLEM_HPP

#include <invar/backends/cuda/matrix_call.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace invar::backends::cuda::gemm {

/// Where groups of rows begin and end: offsets[g] and offsets[g + 1], in the device's memory.
class GroupOffsets {
 public:
  GroupOffsets() = default;
  GroupOffsets(const std::int32_t* offsets, std::int64_t stride, int groups)
      : offsets_(offsets), stride_(stride), groups_(groups), are_64_bits_(false) {}
  GroupOffsets(const std::int64_t* offsets, std::int64_t stride, int groups)
      : offsets_(offsets), stride_(stride), groups_(groups), are_64_bits_(true) {}

  KOKKOS_FUNCTION int groups() const { return groups_; }

  /// Rows of one group.
  struct Rows {
    std::int64_t begin, end;
    int group;
  };

  /// The rows of a group. Offsets that are none cannot lead out of [0, rows).
  __device__ Rows rows_of(int group, std::int64_t rows) const {
    const std::int64_t begin = within(at(group), 0, rows);
    return {begin, within(at(group + 1), begin, rows), group};
  }

  /// The rows that tile number `tile` has, if each group is cut into tiles of Height rows, groups in ascending order;
  /// none where there are fewer tiles. All lanes of a warp call it with the same tile.
  template <int Height>
  __device__ Rows find(std::int64_t tile, std::int64_t rows) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    std::int64_t before = 0;  // tiles of the groups that were looked at
#pragma unroll 1
    for (int first = 0; first < groups_; first += 32) {
      const int group = first + lane;
      const Rows own = group < groups_ ? rows_of(group, rows) : Rows{0, 0, group};
      const std::int64_t tiles = (own.end - own.begin + Height - 1) / Height;
      std::int64_t sum = tiles;  // of this lane's group and those before it
#pragma unroll
      for (int step = 1; step < 32; step *= 2) {
        const std::int64_t other = __shfl_up_sync(0xffffffffu, static_cast<long long>(sum), step);
        if (lane >= step) sum += other;
      }
      const unsigned found = __ballot_sync(0xffffffffu, tile < before + sum);
      if (found != 0) {
        const int source = __ffs(static_cast<int>(found)) - 1;
        const std::int64_t in_group = tile - before - from(source, sum - tiles);
        const std::int64_t begin = from(source, own.begin) + in_group * Height, end = from(source, own.end);
        return {begin, begin + Height < end ? begin + Height : end, first + source};
      }
      before += from(31, sum);
    }
    return {0, 0, 0};
  }

 private:
  static __device__ std::int64_t from(int lane, std::int64_t x) {
    return __shfl_sync(0xffffffffu, static_cast<long long>(x), lane);
  }
  static __device__ std::int64_t within(std::int64_t x, std::int64_t low, std::int64_t high) {
    return x < low ? low : x < high ? x : high;
  }
  __device__ std::int64_t at(int i) const {
    return are_64_bits_ ? static_cast<const std::int64_t*>(offsets_)[i * stride_]
                        : std::int64_t{static_cast<const std::int32_t*>(offsets_)[i * stride_]};
  }

  const void* offsets_ = nullptr;
  std::int64_t stride_ = 1;
  int groups_ = 0;
  bool are_64_bits_ = false;
};

/// From one matrix to the next, in elements.
struct MatrixSteps {
  std::int64_t a = 0, b = 0, c = 0, residual = 0;
};

/// Products with one matrix after the other, or with groups of rows.
template <class A, class B>
struct MatrixProblem {
  MatrixCall<A, B> call;   ///< of the first matrix; with groups, of all rows and the first group's b
  std::int64_t count = 1;  ///< matrices, if there are no groups
  MatrixSteps step;
  GroupOffsets offsets;

  /// The output of matrix number `matrix`.
  __device__ MatmulOutput<float> output(std::int64_t matrix) const {
    MatmulOutput<float> out = call.out;
    out.c = static_cast<unsigned char*>(out.c) + matrix * step.c * bytes_of(out.c_type);
    out.residual =
        static_cast<const unsigned char*>(out.residual) + matrix * step.residual * bytes_of(out.residual_type);
    return out;
  }
  /// The matrix from number `first` on.
  MatrixProblem from(std::int64_t first, std::int64_t how_many) const {
    MatrixProblem part = *this;
    part.call.a.data += first * step.a;
    part.call.b.data += first * step.b;
    part.call.out.c = static_cast<unsigned char*>(call.out.c) + first * step.c * bytes_of(call.out.c_type);
    if (call.out.residual_type != Element::none)
      part.call.out.residual = static_cast<const unsigned char*>(call.out.residual) +
                               first * step.residual * bytes_of(call.out.residual_type);
    part.count = how_many;
    return part;
  }

  /// True where every matrix allows copies of 16 bytes along k, or along the rows.
  bool has_vectors_along_k_of_a() const { return call.a.is_vector_along_k(call.leaf) && keeps_vectors<A>(step.a); }
  bool has_vectors_along_k_of_b() const { return call.b.is_vector_along_k(call.leaf) && keeps_vectors<B>(step.b); }
  bool has_vectors_along_n_of_b() const { return call.b.is_vector_along_rows() && keeps_vectors<B>(step.b); }

 private:
  template <class T>
  static bool keeps_vectors(std::int64_t elements) {
    return elements * static_cast<std::int64_t>(sizeof(T)) % 16 == 0;
  }
  KOKKOS_FUNCTION static constexpr std::int64_t bytes_of(Element type) {
    return type == Element::float64 ? 8 : type == Element::float32 ? 4 : type == Element::none ? 0 : 2;
  }
};

}  // namespace invar::backends::cuda::gemm

#endif
