// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// A tile of outputs by wgmma: the instructions of warpgroups, of Hopper alone. They read both operands from shared
/// memory.
#ifndef INVAR_BACKENDS_CUDA_MATRIX_MMA_GROUP_HPP
#define INVAR_BACKENDS_CUDA_MATRIX_MMA_GROUP_HPP

#include <invar/backends/cuda/matrix_mma_panel.hpp>
#include <invar/backends/cuda/matrix_unit.hpp>
#include <invar/num/arithmetic.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace invar::backends::cuda::gemm {

/// `Groups` warpgroups of 64 columns of c each, which are the instruction's rows; its columns are rows of c.
/// \tparam MinBlocks  blocks that registers must allow on a multiprocessor
template <int Groups, int Rows, int Stages_, int MinBlocks>
struct GroupTile {
  static constexpr int stages = Stages_, threads = Groups * 128, min_blocks = MinBlocks;
  static constexpr int columns = Groups * 64, rows = Rows;
  static constexpr bool by_warpgroups = true;

  /// What SyncTile::Products is for warps.
  template <class A, class B, bool AlongN>
  class Products {
   public:
    using PanelA = Panel<A, rows, threads, false>;
    using PanelB = Panel<B, columns, threads, AlongN>;
    static constexpr __device__ bool are_there() { return has_wgmma(); }

    __device__ Products() {
#pragma unroll
      for (int i = 0; i < sums; ++i) total_[i] = -0.0f;
    }

    /// Starts to multiply panels that are there; until finish() they must stay as they are.
    __device__ void start(const unsigned char* a, const unsigned char* b, bool opens_leaf) {
      const SharedOperand right(a, Swizzle::bytes128, 0, 1024);
      const SharedOperand left(b + group() * (64 * panel_line), Swizzle::bytes128, AlongN ? 64 * panel_line : 0, 1024);
      pin(chain_);
      fence_products();
#pragma unroll
      for (std::uint32_t step = 0; step < 4; ++step)
        wgmma<B, A, AlongN ? Major::mn : Major::k, Major::k>(chain_, left + step * (AlongN ? 2048 : 32),
                                                             right + step * 32, step > 0 || !opens_leaf);
      commit_products();
    }
    __device__ void finish(const unsigned char*, const unsigned char*, bool) {
      wait_products<0>();
      pin(chain_);
    }
    __device__ void end_leaf() {
#pragma unroll
      for (int i = 0; i < sums; ++i) total_[i] = num::add(total_[i], chain_[i]);
    }
    __device__ void deposit(float* to, int line) const {
      const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
#pragma unroll
      for (int i = 0; i < sums; ++i)
        to[(i / 4 * 8 + lane % 4 * 2 + i % 2) * line + warp * 16 + i / 2 % 2 * 8 + lane / 4] = total_[i];
    }

   private:
    static constexpr int sums = rows / 2;
    /// The warpgroup, in a form that the compiler knows to be one for all lanes of a warp.
    static __device__ int group() { return __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / 128, 0); }

    float total_[sums], chain_[sums];
  };
};

}  // namespace invar::backends::cuda::gemm

#endif
