// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// How a small matrix product brings its operands to shared memory: tensor maps and bulk copies. Compute capability 9.0
/// and up.
#ifndef INVAR_BACKENDS_CUDA_MATRIX_SMALL_COPY_HPP
#define INVAR_BACKENDS_CUDA_MATRIX_SMALL_COPY_HPP

#include <invar/backends/cuda/launch.hpp>
#include <invar/num/types.hpp>

#include <cuda.h>
#include <cudaTypedefs.h>
#include <Kokkos_Core.hpp>

#include <array>
#include <cstdint>
#include <type_traits>

namespace invar::backends::cuda::small {

/// Elements along the contiguous dimension of a copy: 128 bytes, the span of the swizzle.
inline constexpr int chunk = 64;
inline constexpr int chunk_bytes = 128;

/// The driver's encoder of tensor maps; null where the driver has none.
inline PFN_cuTensorMapEncodeTiled_v12000 tensor_map_encoder() {
  static const auto encoder = [] {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found{};
    const cudaError_t status =
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found);
    const bool is_there = status == cudaSuccess && found == cudaDriverEntryPointSuccess;
    return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(is_there ? function : nullptr);
  }();
  return encoder;
}

/// A matrix of 16-bit elements in global memory: `lines` of `length` contiguous elements, `pitch` elements apart.
template <class T>
struct Lines {
  const T* data;
  std::int64_t length, lines, pitch;

  /// True where bulk copies can read it: they ask for multiples of 16 bytes. The pitch of a single line does not count.
  bool suits() const {
    return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 &&
           (lines == 1 || (pitch >= length && pitch % 8 == 0 && pitch < (std::int64_t{1} << 38)));
  }

  /// Makes the map of boxes of 64 elements by `box_lines`, which land swizzled; false where the driver refuses it.
  /// Beyond the matrix a box is filled with zeros.
  bool map(CUtensorMap& to, int box_lines) const {
    return encode<2>(to, data, {size(length), size(lines)}, {pitch_bytes()},
                     {chunk, static_cast<cuuint32_t>(box_lines)});
  }

  /// The same for a box of 8 lines of this matrix and 8 of another, in turn: so the 16 lines that a warp multiplies are
  /// alike in both. False too where the matrices do not allow that.
  bool map_with(const Lines& other, CUtensorMap& to, int box_lines) const {
    const std::int64_t apart = reinterpret_cast<std::intptr_t>(other.data) - reinterpret_cast<std::intptr_t>(data);
    if (other.pitch != pitch || lines % 8 != 0 || apart <= 0 || apart % 16 != 0 || apart >= std::int64_t{1} << 40)
      return false;
    return encode<4>(to, data, {size(length), 8, 2, size(lines / 8)}, {pitch_bytes(), size(apart), 8 * pitch_bytes()},
                     {chunk, 8, 2, static_cast<cuuint32_t>(box_lines / 16)});
  }

 private:
  static cuuint64_t size(std::int64_t n) { return static_cast<cuuint64_t>(n); }
  cuuint64_t pitch_bytes() const { return size(lines == 1 ? (length + 7) / 8 * 8 : pitch) * sizeof(T); }

  template <int Rank>
  static bool encode(CUtensorMap& to, const T* from, const std::array<cuuint64_t, Rank>& extent,
                     const std::array<cuuint64_t, Rank - 1>& step, const std::array<cuuint32_t, Rank>& box) {
    static_assert(std::is_same_v<T, bfloat16_t> || std::is_same_v<T, float16_t>);
    if (tensor_map_encoder() == nullptr) return false;
    std::array<cuuint32_t, Rank> every;
    every.fill(1);
    constexpr auto type =
        std::is_same_v<T, bfloat16_t> ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 : CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    // Promotion to 128 bytes streams faster than to 256.
    return tensor_map_encoder()(&to, type, Rank, const_cast<T*>(from), extent.data(), step.data(), box.data(),
                                every.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
  }
};

/// The first byte of the dynamic shared memory that is a multiple of 1024, as swizzled atoms ask for.
__device__ inline unsigned char* first_atom(unsigned char* shared) {
  return shared + (-static_cast<std::uint32_t>(__cvta_generic_to_shared(shared)) & 1023u);
}

/// How long the second-level cache should keep what a copy reads.
enum class Keep { until_needed, longest };

/// The lane of a converged warp that issues its copies. All lanes run the loop around them: a branch around the whole
/// loop would cost more than the instructions that the other lanes skip.
class CopyLane {
 public:
  __device__ CopyLane() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("{.reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p;}" : "=r"(is_mine_));
    asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(first_));
    asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(last_));
#endif
  }

  /// Has a map fetched that is needed soon.
  __device__ void prefetch([[maybe_unused]] const CUtensorMap& map) const {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("{.reg .pred p; setp.ne.u32 p, %1, 0; @p prefetch.tensormap [%0];}" ::"l"(&map), "r"(is_mine_)
                 : "memory");
#endif
  }

  /// Brings the box whose first element is element `x` of line `y`, and tells the mbarrier.
  __device__ void copy([[maybe_unused]] const CUtensorMap& map, [[maybe_unused]] std::uint32_t to,
                       [[maybe_unused]] std::uint32_t barrier, [[maybe_unused]] int x, [[maybe_unused]] int y,
                       [[maybe_unused]] Keep keep) const {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile(
        "{.reg .pred p; setp.ne.u32 p, %6, 0;\n"
        "@p cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint "
        "[%0], [%1, {%3, %4}], [%2], %5;}" ::"r"(to),
        "l"(&map), "r"(barrier), "r"(x), "r"(y), "l"(keep == Keep::longest ? last_ : first_), "r"(is_mine_)
        : "memory");
#endif
  }
  /// The same with a map of Lines::map_with(); `y` is a group of 8 lines.
  __device__ void copy_both([[maybe_unused]] const CUtensorMap& map, [[maybe_unused]] std::uint32_t to,
                            [[maybe_unused]] std::uint32_t barrier, [[maybe_unused]] int x, [[maybe_unused]] int y,
                            [[maybe_unused]] Keep keep) const {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile(
        "{.reg .pred p; setp.ne.u32 p, %6, 0;\n"
        "@p cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint "
        "[%0], [%1, {%3, %7, %7, %4}], [%2], %5;}" ::"r"(to),
        "l"(&map), "r"(barrier), "r"(x), "r"(y), "l"(keep == Keep::longest ? last_ : first_), "r"(is_mine_), "r"(0)
        : "memory");
#endif
  }
  /// The mbarrier's phase ends when so many bytes have come.
  __device__ void expect([[maybe_unused]] std::uint32_t barrier, [[maybe_unused]] std::uint32_t bytes) const {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile(
        "{.reg .pred p; setp.ne.u32 p, %2, 0;\n"
        "@p mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;}" ::"r"(barrier),
        "r"(bytes), "r"(is_mine_)
        : "memory");
#endif
  }

 private:
  std::uint32_t is_mine_ = 0;
  std::uint64_t first_ = 0, last_ = 0;
};

}  // namespace invar::backends::cuda::small

#endif
