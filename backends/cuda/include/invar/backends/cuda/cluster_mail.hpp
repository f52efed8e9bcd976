// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Values that the blocks of a cluster send into each other's shared memory; compute capability 9.0 and up.
#ifndef INVAR_BACKENDS_CUDA_CLUSTER_MAIL_HPP
#define INVAR_BACKENDS_CUDA_CLUSTER_MAIL_HPP

#include <invar/backends/cuda/warp.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace invar::backends::cuda {

/// Each round, every block waits for a number of bytes that the blocks of its cluster, itself among them, send to it. A
/// stored value announces itself at the receiver's mbarrier, so no fence is needed; the one that a cluster barrier
/// brings along is as wide as the device (MEMBAR.ALL.GPU in the compiled code).
class ClusterMail {
 public:
  /// Bytes of shared memory: two mbarriers, for rounds in turn. A block can be ahead of another by one round only.
  static constexpr std::size_t shared_bytes = 16;

  /// All threads of the cluster construct it together. In a block alone there is no mail.
  KOKKOS_FUNCTION ClusterMail(char* shared, int blocks) : barriers_(0) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if (blocks == 1) return;
    barriers_ = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
    if (thread_in_block() == 0) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barriers_));
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barriers_ + 8));
      asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
#else
    (void)shared, (void)blocks;
#endif
  }

  /// Begins a round; all threads of the cluster call it together. The block will receive `bytes`.
  KOKKOS_FORCEINLINE_FUNCTION void begin([[maybe_unused]] std::uint32_t bytes) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    // Before the first value is sent, every block must have set up its mbarriers.
    if (round_ == 0) asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
    if (thread_in_block() == 0)
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier()), "r"(bytes) : "memory");
#endif
  }

  /// Stores a value at the place of `slot` in the shared memory of block `rank`.
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION void send([[maybe_unused]] T* slot, [[maybe_unused]] const T& value,
                                        [[maybe_unused]] int rank) const {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    std::uint32_t to, at;
    asm("mapa.shared::cluster.u32 %0, %1, %2;"
        : "=r"(to)
        : "r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(slot))), "r"(rank));
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(barrier()), "r"(rank));
    std::uint32_t word[sizeof(T) / 4];
    std::memcpy(word, &value, sizeof(T));
    if constexpr (sizeof(T) == 4)
      asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(to),
                   "r"(word[0]), "r"(at)
                   : "memory");
    else if constexpr (sizeof(T) == 8)
      asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%0], {%1, %2}, [%3];" ::"r"(to),
                   "r"(word[0]), "r"(word[1]), "r"(at)
                   : "memory");
    else
      asm volatile(
          "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(to),
          "r"(word[0]), "r"(word[1]), "r"(word[2]), "r"(word[3]), "r"(at)
          : "memory");
#endif
  }

  /// Waits until the round's bytes have come.
  KOKKOS_FORCEINLINE_FUNCTION void wait() const {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    std::uint32_t done = 0;
    while (done == 0)
      asm volatile(
          "{\n"
          ".reg .pred p;\n"
          "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n"
          "selp.u32 %0, 1, 0, p;\n"
          "}"
          : "=r"(done)
          : "r"(barrier()), "r"((round_ >> 1) & 1u)
          : "memory");
#endif
  }
  KOKKOS_FORCEINLINE_FUNCTION void end() { ++round_; }

 private:
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t barrier() const { return barriers_ + 8 * (round_ & 1u); }

  std::uint32_t barriers_;  // the address in shared memory
  std::uint32_t round_ = 0;
};

}  // namespace invar::backends::cuda

#endif
