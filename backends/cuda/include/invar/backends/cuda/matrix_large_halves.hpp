// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The chains of a warpgroup's 64 rows of a wide tile, in two halves of its columns: while a leaf of one is folded, the
/// other half's products go on.
#ifndef INVAR_BACKENDS_CUDA_MATRIX_LARGE_HALVES_HPP
#define INVAR_BACKENDS_CUDA_MATRIX_LARGE_HALVES_HPP

#include <invar/backends/cuda/matrix_large_shape.hpp>
#include <invar/backends/cuda/matrix_unit.hpp>

#include <cstdint>
#include <type_traits>

namespace invar::backends::cuda::gemm {

/// As LargeProducts, but a leaf's last products are still under way when the next leaf's first ones begin. Two
/// warpgroups that share a ring fold at about the same time, so that neither fills the other's gap: on an H200 a leaf
/// of 128 × 256 outputs cost 870 cycles as one piece, and costs half of that as two.
template <class A, class B, Major MajorB, class Shape>
class LargeHalves {
 public:
  using Ring = typename Shape::Ring;
  static constexpr int values = Shape::columns / 4;  ///< of a half
  using Chains = float[2][values];

  __device__ LargeHalves(const Ring& ring, const unsigned char* shared, int group)
      : ring_(ring),
        a_(shared + group * 64 * 128, Swizzle::bytes128, 16, 1024),
        b_(shared + Shape::a_bytes, Swizzle::bytes128, MajorB == Major::k ? 16 : Shape::box_bytes, 1024) {}

  /// Computes a block's first stage; without stages, products of no meaning.
  __device__ void begin(Chains& chains, int stages) {
    if (stages > 0) ring_.wait_filled();
    start(chains[0], 0, false);
    start(chains[1], 1, false);
    end_first(stages > 0);
  }

  /// Starts the rest of a leaf, of which the last stage's products go on.
  /// \param work  called with the number of each stage from the second on, while its products are under way
  template <class Work>
  __device__ void run(Chains& chains, int stages, const Work& work) {
#pragma unroll 1
    for (int s = 1; s < stages; ++s) {
      ring_.wait_filled();
      start(chains[0], 0, true);
      wait_products<1>();
      if (s > 1) ring_.release(1);
      start(chains[1], 1, true);
      work(s);
      ring_.advance();
    }
  }

  /// From a leaf to the next one: takes each half's chains when they are complete, and begins the next ones at once.
  /// \param before   stages of the leaf
  /// \param follows  whether a stage will come; else products of no meaning are begun
  /// \param take     called with each half's number, as a type
  template <class Take>
  __device__ void turn(Chains& chains, int before, bool follows, const Take& take) {
    wait_products<1>();
    pin(chains[0]);
    take(std::integral_constant<int, 0>());
    leave_undefined(chains[0]);
    if (follows) ring_.wait_filled();
    start(chains[0], 0, false);
    wait_products<1>();
    pin(chains[1]);
    if (before > 1) ring_.release(1);
    take(std::integral_constant<int, 1>());
    leave_undefined(chains[1]);
    start(chains[1], 1, false);
    end_first(follows);
  }

  /// Where the next stage comes.
  __device__ const Ring& ring() const { return ring_; }

 private:
  /// Waits for the first stage, so that the compiler sees what is under way; meanwhile the other warpgroup multiplies.
  __device__ void end_first(bool has_stage) {
    wait_products<0>();
    ring_.advance();
    if (has_stage) ring_.release(1);
  }

  /// Starts a half's products of the stage.
  __device__ void start(float (&chain)[values], int half, bool continues) {
    constexpr std::uint32_t step = MajorB == Major::k ? 32 : 2048;
    const auto offset = static_cast<std::uint32_t>(ring_.stage() * Shape::stage_bytes);
    const auto to_half = static_cast<std::uint32_t>(half * (Shape::columns / 2) * 128);
    fence_products();
#pragma unroll
    for (std::uint32_t group = 0; group < Shape::steps; ++group)
      wgmma<A, B, Major::k, MajorB>(chain, a_ + offset + group * 32, b_ + offset + to_half + group * step,
                                    group > 0 || continues);
    commit_products();
  }

  Ring ring_;
  SharedOperand a_, b_;  // in the ring's first stage
};

}  // namespace invar::backends::cuda::gemm

#endif
