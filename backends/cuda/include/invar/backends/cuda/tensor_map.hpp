// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Matrices as the tensor memory accelerator (TMA) of compute capability 9.0 sees them, and its copies: a box of a
/// matrix into shared memory, with zeros for what lies outside the matrix; and from there to the part of a box that
/// lies inside.
#ifndef INVAR_BACKENDS_CUDA_TENSOR_MAP_HPP
#define INVAR_BACKENDS_CUDA_TENSOR_MAP_HPP

#include <invar/num/types.hpp>

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <limits>
#include <type_traits>

namespace invar::backends::cuda {

/// The driver's encoder of tensor maps, or null where it has none. Asked for at run time, so that nothing has to be
/// linked with the driver.
inline auto tensor_map_encoder() {
  using Encoder = decltype(&cuTensorMapEncodeTiled);
  static const Encoder encoder = [] {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result{};
#if CUDART_VERSION >= 12050
    const cudaError_t status =
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &result);
#else
    const cudaError_t status = cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &found, cudaEnableDefault, &result);
#endif
    return status == cudaSuccess && result == cudaDriverEntryPointSuccess ? reinterpret_cast<Encoder>(found) : nullptr;
  }();
  return encoder;
}

/// Element (i, j) of a matrix in device memory is data[i·stride + j].
template <class T>
struct TensorMatrix {
  const T* data;
  std::int64_t rows, columns, stride;
};

/// Makes the map of a matrix whose boxes are box_rows × box_columns. In shared memory the rows of a box lie one behind
/// the other, 128 or 64 bytes each, and its 16-byte pieces are swizzled over that width. False where TMA cannot take
/// the matrix: it wants addresses and strides that are multiples of 16 bytes.
template <class T>
bool make_tensor_map(CUtensorMap& map, const TensorMatrix<T>& matrix, int box_rows, int box_columns) {
  static_assert(
      sizeof(T) == 1 || std::is_same_v<T, bfloat16_t> || std::is_same_v<T, float16_t> || std::is_same_v<T, float>,
      "Invar: make_tensor_map takes bfloat16_t, float16_t, float and 8-bit types");
  constexpr auto type = sizeof(T) == 1                  ? CU_TENSOR_MAP_DATA_TYPE_UINT8
                        : std::is_same_v<T, bfloat16_t> ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                        : std::is_same_v<T, float16_t>  ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16
                                                        : CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  const auto encode = tensor_map_encoder();
  if (encode == nullptr || reinterpret_cast<std::uintptr_t>(matrix.data) % 16 != 0) return false;
  if (matrix.rows < 1 || matrix.rows > most || matrix.columns < 1 || matrix.columns > most) return false;
  if (matrix.stride < matrix.columns || matrix.stride > most) return false;
  const cuuint64_t extents[2] = {static_cast<cuuint64_t>(matrix.columns), static_cast<cuuint64_t>(matrix.rows)};
  const cuuint64_t strides[1] = {static_cast<cuuint64_t>(matrix.stride) * sizeof(T)};
  if (strides[0] % 16 != 0) return false;
  const cuuint32_t box[2] = {static_cast<cuuint32_t>(box_columns), static_cast<cuuint32_t>(box_rows)};
  const cuuint32_t steps[2] = {1, 1};
  const auto swizzle = box[0] * sizeof(T) == 128 ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_64B;
  return encode(&map, type, 2, const_cast<T*>(matrix.data), extents, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

/// Shared memory as its instructions address it.
__device__ inline std::uint32_t shared_address(const void* shared) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
}

/// Where byte `offset` of a box lies in shared memory, relative to the box: aligned to 1024 bytes, RowBytes a row.
template <int RowBytes>
__device__ constexpr std::uint32_t swizzled(std::uint32_t offset) {
  static_assert(RowBytes == 128 || RowBytes == 64);
  return offset ^ (offset >> 3 & (RowBytes == 128 ? 0x70u : 0x30u));
}

/// Whether this lane is the one that acts for its warp, whose lanes all call this together.
__device__ inline bool is_elected() {
  std::uint32_t elected = 0;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("{.reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p;}" : "=r"(elected));
#endif
  return elected != 0;
}

/// Brings a map near, so that its first copy need not wait for it.
__device__ inline void prefetch(const CUtensorMap& map) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
#endif
}

/// Starts the copy of the box at (row, column) to `shared`, where `acts`; its bytes announce themselves at an mbarrier.
/// All lanes of a warp call it: a branch around it costs the loop that it is in.
__device__ inline void load_box(std::uint32_t shared, const CUtensorMap& map, std::uint32_t barrier, int row,
                                int column, bool acts) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile(
      "{.reg .pred p; setp.ne.u32 p, %5, 0;\n"
      "@p cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], "
      "[%2];}" ::"r"(shared),
      "l"(&map), "r"(barrier), "r"(column), "r"(row), "r"(static_cast<std::uint32_t>(acts))
      : "memory");
#endif
}

/// Starts the copy of a box from `shared`. What was stored there must be visible to TMA: fence_shared_stores().
__device__ inline void store_box(const CUtensorMap& map, std::uint32_t shared, int row, int column) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(&map),
               "r"(shared), "r"(column), "r"(row)
               : "memory");
#endif
}

/// Ends a group of store_box().
__device__ inline void commit_stores() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
#endif
}

/// Waits until all but the latest Pending of this thread's groups have read shared memory.
template <int Pending>
__device__ inline void wait_stores_read() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(Pending) : "memory");
#endif
}

/// Waits until this thread's groups are done.
__device__ inline void wait_stores() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
#endif
}

}  // namespace invar::backends::cuda

#endif
