// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The chains of a warpgroup's 64 rows of a tile, by wgmma from the ring of stages.
#ifndef INVAR_BACKENDS_CUDA_MATRIX_LARGE_PRODUCTS_HPP
#define INVAR_BACKENDS_CUDA_MATRIX_LARGE_PRODUCTS_HPP

#include <invar/backends/cuda/matrix_large_shape.hpp>
#include <invar/backends/cuda/matrix_unit.hpp>

#include <cstdint>

namespace invar::backends::cuda::gemm {

/// What a warpgroup multiplies. Beyond the end of k the stages hold zeros, which leave a chain as it is.
template <class A, class B, Major MajorB, class Shape>
class LargeProducts {
 public:
  using Ring = typename Shape::Ring;
  static constexpr int values = Shape::columns / 2;

  /// \param shared   of the block
  /// \param group    the warpgroup
  /// \param stages   of k
  __device__ LargeProducts(const Ring& ring, const unsigned char* shared, int group, int stages)
      : ring_(ring),
        a_(shared + group * 64 * 128, Swizzle::bytes128, 16, 1024),
        b_(shared + Shape::a_bytes, Swizzle::bytes128, MajorB == Major::k ? 16 : Shape::box_bytes, 1024),
        group_(group),
        lags_(Shape::lags && stages > Shape::stages) {}

  /// Where the shape lags, the second warpgroup waits until the first one has begun the tile, and from then on folds
  /// and stores while that one multiplies. Tiles that fit the ring are left alone: the first could be one ahead.
  __device__ void begin_tile() const {
    if (lags_ && group_ == 1) asm volatile("bar.sync 3, 256;" ::: "memory");
  }

  /// Begins chains from +0 over some stages: the first two are under way then, and there is time for other work.
  /// Without stages, products of no meaning are begun, since the compiler lets nothing go on while there may be none.
  __device__ void begin(float (&chain)[values], int stages, bool begins_tile) {
    const int last = stages < 2 ? 0 : 1;
    int s = 0;
#pragma unroll 1
    do {
      if (stages > 0) ring_.wait_filled();
      start(chain, s > 0);
      if (lags_ && group_ == 0 && begins_tile && s == 0) asm volatile("bar.arrive 3, 256;" ::: "memory");
    } while (++s <= last);
  }

  /// Completes what begin() began. All stages have been left.
  /// \param work  called with the number of each stage from the third on, while its products are under way
  template <class Work>
  __device__ void complete(float (&chain)[values], int stages, const Work& work) {
#pragma unroll 1
    for (int s = 2; s < stages; ++s) {
      if constexpr (!eager) {
        wait_products<1>();
        ring_.release(2);
      }
      ring_.wait_filled();
      start(chain, true);
      work(s);
      if constexpr (eager) {
        wait_products<2>();
        ring_.release(3);
      }
    }
    if (stages > 1) {
      wait_products<1>();
      ring_.release(2);
    }
    wait_products<0>();
    pin(chain);
    ring_.release(1);
  }

  /// Waits for what was begun without stages.
  static __device__ void end() { wait_products<0>(); }

 private:
  /// Whether three stages are under way at times, so that small ones keep the unit busy; else two.
  static constexpr bool eager = Shape::stages >= 8;

  /// Starts the products of the stage.
  /// \param continues  the chains, or begins them
  __device__ void start(float (&chain)[values], bool continues) {
    constexpr std::uint32_t step = MajorB == Major::k ? 32 : 2048;
    const auto offset = static_cast<std::uint32_t>(ring_.stage() * Shape::stage_bytes);
    fence_products();
#pragma unroll
    for (std::uint32_t group = 0; group < Shape::steps; ++group)
      wgmma<A, B, Major::k, MajorB>(chain, a_ + offset + group * 32, b_ + offset + group * step,
                                    group > 0 || continues);
    commit_products();
    ring_.advance();
  }

  Ring ring_;
  SharedOperand a_, b_;  // in the ring's first stage
  int group_;
  bool lags_;
};

}  // namespace invar::backends::cuda::gemm

#endif
