// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// How a small matrix product brings its operands to shared memory: tensor maps, bulk copies, and the ring of stages
/// between the warp that copies and the warps that multiply. Compute capability 9.0 and up.
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
    return encode<2>(to, data, {size(length), size(lines)}, {pitch_bytes()}, {chunk, static_cast<cuuint32_t>(box_lines)});
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
                                CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
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
  /// The same for all blocks of a cluster: to the same places in their shared memory, and their mbarriers are told.
  __device__ void copy_to_all([[maybe_unused]] int blocks, [[maybe_unused]] const CUtensorMap& map,
                              [[maybe_unused]] std::uint32_t to, [[maybe_unused]] std::uint32_t barrier,
                              [[maybe_unused]] int x, [[maybe_unused]] int y, [[maybe_unused]] Keep keep) const {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile(
        "{.reg .pred p; setp.ne.u32 p, %6, 0;\n"
        "@p cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster"
        ".L2::cache_hint [%0], [%1, {%3, %4}], [%2], %7, %5;}" ::"r"(to),
        "l"(&map), "r"(barrier), "r"(x), "r"(y), "l"(keep == Keep::longest ? last_ : first_), "r"(is_mine_),
        "h"(static_cast<std::uint16_t>((1 << blocks) - 1))
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

/// The ring of stages between the warp that copies and the warps that multiply. A stage has weights, a piece of the batch
/// and two mbarriers: full ends a phase when its bytes have come, empty when all warps that multiply have let go of it.
struct Ring {
  int stages;
  std::uint32_t weights_bytes, batch_bytes;  ///< of a stage
  std::uint32_t tail_bytes;                  ///< behind the batch, that products may read
  /// Bytes from the first atom of shared memory.
  KOKKOS_FUNCTION std::uint32_t batch_at() const { return static_cast<std::uint32_t>(stages) * weights_bytes; }
  KOKKOS_FUNCTION std::uint32_t end() const {
    return static_cast<std::uint32_t>(stages) * (weights_bytes + batch_bytes) + tail_bytes;
  }
  KOKKOS_FUNCTION std::uint32_t barriers_bytes() const { return static_cast<std::uint32_t>(stages) * 16; }
};

/// A place in the ring. Every warp goes through it on its own.
class RingPlace {
 public:
  /// \param barriers  of ring.barriers_bytes()
  __device__ RingPlace(const Ring& ring, const unsigned char* first_atom, const unsigned char* barriers)
      : ring_(ring),
        weights_(static_cast<std::uint32_t>(__cvta_generic_to_shared(first_atom))),
        batch_(weights_ + ring.batch_at()),
        barriers_(static_cast<std::uint32_t>(__cvta_generic_to_shared(barriers))) {}

  /// The warp that copies calls it, and can begin at once; the others call wait_until_set_up().
  /// \param blocks  whose warps let go of a stage
  __device__ void set_up([[maybe_unused]] int warps_that_multiply, [[maybe_unused]] int blocks) const {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if (threadIdx.x % 32 == 0) {
#pragma unroll 1
      for (std::uint32_t at = barriers_; at < barriers_ + ring_.barriers_bytes(); at += 16) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at) : "memory");
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at + 8), "r"(warps_that_multiply * blocks)
                     : "memory");
      }
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    __syncwarp();
    asm volatile("barrier.cta.arrive 1, %0;" ::"r"(32 * warps_that_multiply + 32) : "memory");
#endif
  }
  __device__ static void wait_until_set_up([[maybe_unused]] int warps_that_multiply) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("barrier.cta.sync 1, %0;" ::"r"(32 * warps_that_multiply + 32) : "memory");
#endif
  }

  /// Addresses in shared memory.
  __device__ std::uint32_t weights() const { return weights_ + static_cast<std::uint32_t>(at_) * ring_.weights_bytes; }
  __device__ std::uint32_t batch() const { return batch_ + static_cast<std::uint32_t>(at_) * ring_.batch_bytes; }
  __device__ std::uint32_t full() const { return barriers_ + static_cast<std::uint32_t>(at_) * 16; }
  __device__ std::uint32_t empty() const { return full() + 8; }

  __device__ void wait_until_full() const { wait(full(), phase_); }
  __device__ void wait_until_empty() const { wait(empty(), phase_ ^ 1u); }
  /// Each warp that multiplies calls it as a whole; with blocks that have the batch in common it tells them all.
  template <int Blocks>
  __device__ static void let_go([[maybe_unused]] std::uint32_t empty) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    __syncwarp();
    const std::uint32_t lane = threadIdx.x % 32;
    if (lane >= Blocks) return;
    if constexpr (Blocks == 1) {
      asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(empty) : "memory");
    } else {
      std::uint32_t there;
      asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(empty), "r"(lane));
      asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(there) : "memory");
    }
#endif
  }
  __device__ void advance() {
    if (++at_ < ring_.stages) return;
    at_ = 0;
    phase_ ^= 1u;
  }

 private:
  /// Waits until the phase of this parity has ended. With INVAR_BOUNDED_WAITS, which checks define, a wait of seconds
  /// ends the kernel.
  static __device__ void wait([[maybe_unused]] std::uint32_t barrier, [[maybe_unused]] std::uint32_t parity) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#ifdef INVAR_BOUNDED_WAITS
    unsigned left = 1u << 22;
#endif
    std::uint32_t is_over = 0;
    while (true) {
      asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
                   : "=r"(is_over)
                   : "r"(barrier), "r"(parity)
                   : "memory");
      if (is_over != 0) return;
#ifdef INVAR_BOUNDED_WAITS
      if (--left == 0) __trap();
#endif
    }
#endif
  }

  const Ring& ring_;
  std::uint32_t weights_, batch_, barriers_;
  int at_ = 0;
  std::uint32_t phase_ = 0;
};

/// All threads of a cluster that has the batch in common call them, the first before the second.
__device__ inline void arrive_at_cluster() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release;" ::: "memory");
#endif
}
__device__ inline void wait_for_cluster() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
#endif
}

}  // namespace invar::backends::cuda::small

#endif
