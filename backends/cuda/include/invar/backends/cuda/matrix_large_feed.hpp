// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// How the kernels of the matrix unit for many rows of a begin, and what their feeding warp does.
#ifndef INVAR_BACKENDS_CUDA_MATRIX_LARGE_FEED_HPP
#define INVAR_BACKENDS_CUDA_MATRIX_LARGE_FEED_HPP

#include <invar/backends/cuda/launch.hpp>
#include <invar/backends/cuda/matrix_large_shape.hpp>
#include <invar/backends/cuda/tensor_map.hpp>

#include <cstdint>

namespace invar::backends::cuda::gemm {

/// Registers of a thread, for all warps of a warpgroup: the feeding group leaves its own to those that multiply.
template <int Registers>
__device__ inline void claim_registers() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Registers));
#endif
}
template <int Registers>
__device__ inline void leave_registers() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Registers));
#endif
}

/// What the feeding warp does.
template <Major MajorB, class Shape>
struct LargeFeed {
  static constexpr std::uint32_t bytes = Shape::a_bytes + Shape::b_boxes * Shape::b_box * 128;  ///< of a stage's copies

  /// Sets the ring up. The feeding warp does not wait for the others, which call await_begin().
  static __device__ void begin_block(const typename Shape::Ring& ring, std::uint32_t shared, const CUtensorMap& a,
                                     const CUtensorMap& b, bool feeds) {
    if (feeds) {
      if (is_elected()) {
        if (shared % 1024 != 0) __trap();
        prefetch(a);
        prefetch(b);
        ring.initialize(4 * Shape::groups);
      }
      __syncwarp();
    }
    asm volatile("bar.arrive 4, %0;" ::"n"(Shape::threads) : "memory");
    wait_for_previous_kernel();
  }
  static __device__ void await_begin() {
    asm volatile("bar.sync 4, %0;" ::"n"(Shape::threads) : "memory");
    wait_for_previous_kernel();
  }

  /// Fills the next stage with what follows k0.
  template <class Ring>
  static __device__ void fill(Ring& ring, std::uint32_t shared, const CUtensorMap& a, const CUtensorMap& b,
                              LargePosition at, int k0, bool acts) {
    ring.begin_fill(bytes, acts);
    const std::uint32_t to = shared + static_cast<std::uint32_t>(ring.stage() * Shape::stage_bytes);
    load_box(to, a, ring.filled(), at.row, k0, acts);
#pragma unroll
    for (int j = 0; j < Shape::b_boxes; ++j) {
      const std::uint32_t box = to + Shape::a_bytes + static_cast<std::uint32_t>(j * Shape::b_box * 128);
      const int column = at.column + j * Shape::b_box;
      if constexpr (MajorB == Major::k)
        load_box(box, b, ring.filled(), column, k0, acts);
      else
        load_box(box, b, ring.filled(), k0, column, acts);
    }
    ring.advance();
  }
};

}  // namespace invar::backends::cuda::gemm

#endif
