// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The ring of stages in shared memory through which a small matrix product goes. Compute capability 9.0 and up.
#ifndef INVAR_BACKENDS_CUDA_MATRIX_SMALL_RING_HPP
#define INVAR_BACKENDS_CUDA_MATRIX_SMALL_RING_HPP

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace invar::backends::cuda::small {

/// The ring of stages between the warp that copies and the warps that multiply. A stage has weights, a piece of the
/// batch and two mbarriers: full ends a phase when its bytes have come, empty when all warps that multiply have let go
/// of it.
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
  __device__ void set_up([[maybe_unused]] int warps_that_multiply) const {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if (threadIdx.x % 32 == 0) {
#pragma unroll 1
      for (std::uint32_t at = barriers_; at < barriers_ + ring_.barriers_bytes(); at += 16) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at) : "memory");
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at + 8), "r"(warps_that_multiply) : "memory");
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
  /// Each warp that multiplies calls it as a whole.
  __device__ static void let_go([[maybe_unused]] std::uint32_t empty) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    __syncwarp();
    if (threadIdx.x % 32 == 0) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(empty) : "memory");
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

}  // namespace invar::backends::cuda::small

#endif
