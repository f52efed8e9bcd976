// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// A tile of outputs by mma.sync: the instructions of single warps, from compute capability 8.0 on.
#ifndef INVAR_BACKENDS_CUDA_MATRIX_MMA_SYNC_HPP
#define INVAR_BACKENDS_CUDA_MATRIX_MMA_SYNC_HPP

#include <invar/backends/cuda/matrix_mma_panel.hpp>
#include <invar/backends/cuda/matrix_unit.hpp>
#include <invar/num/arithmetic.hpp>
#include <invar/num/float8.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace invar::backends::cuda::gemm {

/// True in device code for Ada, whose mma.sync takes fp8 with the bits of contract::AdaFp8. On Hopper it has others.
__device__ constexpr bool has_ada_fp8() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890 && __CUDA_ARCH__ < 900
  return true;
#else
  return false;
#endif
}

template <class T>
struct Float8Name;
template <>
struct Float8Name<float8_e4m3_t> {
  static constexpr char text[] = "e4m3";
};
template <>
struct Float8Name<float8_e5m2_t> {
  static constexpr char text[] = "e5m2";
};

/// m16n8k32 of fp8: what mma() is for the other types.
template <class A, class B>
__device__ inline void mma_float8([[maybe_unused]] float (&d)[4], [[maybe_unused]] const std::uint32_t (&a)[4],
                                  [[maybe_unused]] const std::uint32_t (&b)[2]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890 && __CUDA_ARCH__ < 900
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.f32.%10.%11.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "C"(Float8Name<A>::text),
        "C"(Float8Name<B>::text));
#endif
}

/// Reads 8 × 16 bytes, `Count` times: lane l of 8·Count gives the address of line l % 8 of block l / 8, and gets from
/// each block the bytes 4·(l % 4) to + 3 of line l / 4; or, transposed, elements of 16 bits of column l / 4.
template <int Count, bool Transposed>
__device__ inline void load_blocks(std::uint32_t (&to)[Count], const unsigned char* at) {
  static_assert(Count == 4 || (Count == 2 && !Transposed));
  const auto from = static_cast<std::uint32_t>(__cvta_generic_to_shared(at));
  if constexpr (Count == 2)
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(to[0]), "=r"(to[1])
                 : "r"(from)
                 : "memory");
  else if constexpr (Transposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(from)
                 : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(from)
                 : "memory");
}

/// WarpsN × WarpsM warps of RN × RM instructions: rows of the instruction are columns of c, its columns rows of c.
/// \tparam MinBlocks  blocks that registers must allow on a multiprocessor
template <int WarpsN, int WarpsM, int RN, int RM, int Stages_, int MinBlocks>
struct SyncTile {
  static constexpr int stages = Stages_, threads = WarpsN * WarpsM * 32, min_blocks = MinBlocks;
  static constexpr int columns = WarpsN * RN * 16, rows = WarpsM * RM * 8;
  static constexpr bool by_warpgroups = false;

  /// \tparam A, B  element types
  /// \tparam AlongN  columns of b lie contiguous in its panel
  template <class A, class B, bool AlongN>
  class Products {
   public:
    using PanelA = Panel<A, rows, threads, false>;
    using PanelB = Panel<B, columns, threads, AlongN>;
    static constexpr __device__ bool are_there() { return sizeof(A) > 1 || has_ada_fp8(); }

    __device__ Products() { set(total_, -0.0f); }

    /// The next panels of the leaf, which are there.
    __device__ void start(const unsigned char*, const unsigned char*, bool) const {}
    __device__ void finish(const unsigned char* a, const unsigned char* b, bool opens_leaf) {
      if (opens_leaf) set(chain_, 0.0f);
#pragma unroll
      for (int byte = 0; byte < panel_line; byte += 32) step(a, b, byte);
    }
    /// Adds the leaf's chains to the totals.
    __device__ void end_leaf() {
#pragma unroll
      for (int i = 0; i < RN; ++i)
#pragma unroll
        for (int j = 0; j < RM; ++j)
#pragma unroll
          for (int v = 0; v < 4; ++v) total_[i][j][v] = num::add(total_[i][j][v], chain_[i][j][v]);
    }
    /// Element (i, j) of the tile goes to to[i·line + j].
    __device__ void deposit(float* to, int line) const {
      const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
      for (int i = 0; i < RN; ++i)
#pragma unroll
        for (int j = 0; j < RM; ++j)
#pragma unroll
          for (int v = 0; v < 4; ++v)
            to[((warp_m() * RM + j) * 8 + lane % 4 * 2 + v % 2) * line + (warp_n() * RN + i) * 16 + v / 2 * 8 +
               lane / 4] = total_[i][j][v];
    }

   private:
    using Sums = float[RN][RM][4];

    static __device__ int warp_n() { return static_cast<int>(threadIdx.x) / 32 % WarpsN; }
    static __device__ int warp_m() { return static_cast<int>(threadIdx.x) / 32 / WarpsN; }
    static __device__ void set(Sums& sums, float value) {
#pragma unroll
      for (int i = 0; i < RN; ++i)
#pragma unroll
        for (int j = 0; j < RM; ++j)
#pragma unroll
          for (int v = 0; v < 4; ++v) sums[i][j][v] = value;
    }

    /// 32 bytes of k.
    __device__ void step(const unsigned char* a, const unsigned char* b, int byte) {
      const int lane = static_cast<int>(threadIdx.x) % 32;
      constexpr int size = static_cast<int>(sizeof(A));
      std::uint32_t right[RM][2];
#pragma unroll
      for (int j = 0; j < RM; ++j)
        load_blocks<2, false>(right[j],
                              a + PanelA::place((warp_m() * RM + j) * 8 + lane % 8, (byte + lane / 8 % 2 * 16) / size));
#pragma unroll
      for (int i = 0; i < RN; ++i) {
        const int column = (warp_n() * RN + i) * 16;
        std::uint32_t left[4];
        if constexpr (AlongN)
          load_blocks<4, true>(left,
                               b + PanelB::place(column + lane / 8 % 2 * 8, byte / size + lane % 8 + lane / 16 * 8));
        else
          load_blocks<4, false>(
              left, b + PanelB::place(column + lane % 8 + lane / 8 % 2 * 8, (byte + lane / 16 * 16) / size));
#pragma unroll
        for (int j = 0; j < RM; ++j) {
          if constexpr (size == 1)
            mma_float8<B, A>(chain_[i][j], left, right[j]);
          else
            mma<A>(chain_[i][j], left, right[j]);
        }
      }
    }

    Sums total_, chain_;
  };
};

}  // namespace invar::backends::cuda::gemm

#endif
