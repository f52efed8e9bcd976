// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The ring of stages in shared memory through which one warp feeds the warpgroups that multiply.
#ifndef INVAR_BACKENDS_CUDA_MATRIX_LARGE_RING_HPP
#define INVAR_BACKENDS_CUDA_MATRIX_LARGE_RING_HPP

#include <cstdint>

namespace invar::backends::cuda {

/// Waits until the mbarrier's phase of this parity is over. With INVAR_BOUND_WAITS defined, which tests do, a wait that
/// takes seconds ends the kernel.
__device__ inline void wait_phase(std::uint32_t barrier, std::uint32_t parity) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#ifdef INVAR_BOUND_WAITS
  std::uint32_t done = 0;
  std::uint64_t begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  while (done == 0) {
    asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
                 : "=r"(done)
                 : "r"(barrier), "r"(parity)
                 : "memory");
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    if (now - begin > 2'000'000'000u) __trap();
  }
#else
  asm volatile(
      "{.reg .pred p;\n"
      "again_%=: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
      "@!p bra again_%=;}" ::"r"(barrier),
      "r"(parity)
      : "memory");
#endif
#endif
}

/// One thread's place in the ring. The producer and every consumer have one of their own, and all take the stages in
/// the same order.
template <int Stages>
class StageRing {
 public:
  /// Two mbarriers for each stage: that it is full, and that it is empty.
  static constexpr int shared_bytes = 2 * 8 * Stages;

  __device__ explicit StageRing(std::uint32_t barriers) : barriers_(barriers) {}

  /// One thread of the block does this; a barrier among its threads must follow.
  __device__ void initialize([[maybe_unused]] int consumer_warps) const {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    for (int i = 0; i < Stages; ++i) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(full(i)) : "memory");
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(empty(i)), "r"(consumer_warps) : "memory");
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
  }

  __device__ int stage() const { return stage_; }
  __device__ void advance() {
    if (++stage_ < Stages) return;
    stage_ = 0;
    parity_ ^= 1;
  }

  /// The producer's warp: waits until the consumers have left the stage, and says how many bytes will come. The first
  /// round finds all stages empty.
  __device__ void begin_fill([[maybe_unused]] std::uint32_t bytes, [[maybe_unused]] bool acts) const {
    wait_phase(empty(stage_), parity_ ^ 1);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile(
        "{.reg .pred p; setp.ne.u32 p, %2, 0;\n"
        "@p mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;}" ::"r"(full(stage_)),
        "r"(bytes), "r"(static_cast<std::uint32_t>(acts))
        : "memory");
#endif
  }
  /// The mbarrier at which the stage's bytes announce themselves.
  __device__ std::uint32_t filled() const { return full(stage_); }

  /// A consumer: waits until the stage is full.
  __device__ void wait_filled() const { wait_phase(full(stage_), parity_); }
  /// A consumer's warp has left the stage that lies so many before the current one; its lanes call this together.
  __device__ void release([[maybe_unused]] int back) const {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if (threadIdx.x % 32 == 0)
      asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(
                       empty(stage_ < back ? stage_ + Stages - back : stage_ - back))
                   : "memory");
#endif
  }

 private:
  __device__ std::uint32_t full(int stage) const { return barriers_ + 8 * static_cast<std::uint32_t>(stage); }
  __device__ std::uint32_t empty(int stage) const { return full(stage) + 8 * Stages; }

  std::uint32_t barriers_;
  int stage_ = 0;
  std::uint32_t parity_ = 0;
};

}  // namespace invar::backends::cuda

#endif
