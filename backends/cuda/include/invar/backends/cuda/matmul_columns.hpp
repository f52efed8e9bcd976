// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// How the streaming CUDA kernels of matmul bring columns of b to a warp's ring of shared memory and use them there.
#ifndef INVAR_BACKENDS_CUDA_MATMUL_COLUMNS_HPP
#define INVAR_BACKENDS_CUDA_MATMUL_COLUMNS_HPP

#include <invar/backends/cuda/matmul_instructions.hpp>
#include <invar/backends/cuda/matmul_operands.hpp>

#include <cstdint>

namespace invar::backends::cuda::gemm {

/// A warp computes 32 columns by LanesM·R rows; a thread R rows by LanesM columns, or more with more columns a lane.
template <int LanesM_, int R_>
struct StreamShape {
  static constexpr int LanesM = LanesM_, R = R_;
  static constexpr int C = LanesM;  ///< columns of a thread
  static constexpr int M = LanesM * R;
};

/// The columns of b, and a warp's arithmetic with 32 of them.
template <class Acc, class B, class Shape>
struct StreamColumns {
  static constexpr int LanesM = Shape::LanesM, R = Shape::R, C = Shape::C, M = Shape::M;
  static constexpr int lanes_n = 32 / LanesM;
  static constexpr int depth = 128 / static_cast<int>(sizeof(B));   ///< positions of k in a stage
  static constexpr int pack = 16 / static_cast<int>(sizeof(B));     ///< elements of a 16-byte copy
  static constexpr int k_pitch = 128 + 16;                          ///< from column to column where k is contiguous
  static constexpr int n_pitch = 32 * static_cast<int>(sizeof(B));  ///< from k to k where columns are contiguous
  static constexpr int stage_bytes = 32 * k_pitch;                  ///< not less than depth·n_pitch
  static constexpr int V = 16 / static_cast<int>(sizeof(Acc));
  static constexpr int pitch = M % 8 == 0 ? M + 4 : M;  ///< from k to k of a's rows; 8 by 4 lanes meet no bank twice
  static constexpr int W = R < V ? R : V;               ///< of a's rows are read at once
  static_assert(R % W == 0 && depth * n_pitch <= stage_bytes);

  MatmulInput<B> data;
  std::int64_t n;           ///< columns of b
  bool vector_k, vector_n;  ///< b may be copied by 16 bytes along k, or along n

  /// True where a stage holds k of a column contiguous, false where it holds columns of a k: as memory does.
  __device__ bool along_k() const { return data.k_stride == 1; }

  static __device__ void clear(Acc (&x)[R][C], Acc value) {
#pragma unroll
    for (int i = 0; i < R; ++i)
#pragma unroll
      for (int j = 0; j < C; ++j) x[i][j] = value;
  }

  /// Brings the warp's columns of b over one stage of k.
  __device__ void fetch(unsigned char* to, int lane, std::int64_t column0, bool along_k, std::int64_t k0,
                        int here) const {
    const std::int64_t columns = n - column0;
    const B* const from = data.data + column0 * data.row_stride + k0 * data.k_stride;
    if (along_k && vector_k) {
      const int p = lane % 8 * pack, j = lane / 8;
      const B* source = from + j * data.row_stride + p;
      to += j * k_pitch + p * static_cast<int>(sizeof(B));
      if (here == depth && columns >= 32) {
#pragma unroll
        for (int i = 0; i < 8; ++i) copy_async<16>(to + 4 * i * k_pitch, source + 4 * i * data.row_stride);
      } else {
        const int valid = here <= p ? 0 : (here - p < pack ? here - p : pack) * static_cast<int>(sizeof(B));
#pragma unroll 1
        for (int i = 0; i < 8; ++i)
          if (j + 4 * i < columns)
            copy_async_part<16>(to + 4 * i * k_pitch, valid > 0 ? source + 4 * i * data.row_stride : data.data, valid);
      }
    } else if (!along_k && vector_n) {
      constexpr int across = 32 / pack, down = 32 / across;  // copies of one k, positions of k at a time
      const int j = lane % across * pack, p = lane / across;
      const B* source = from + p * data.k_stride + j;
      to += p * n_pitch + j * static_cast<int>(sizeof(B));
      if (here == depth && columns >= 32) {
#pragma unroll
        for (int i = 0; i < depth / down; ++i)
          copy_async<16>(to + i * down * n_pitch, source + i * down * data.k_stride);
      } else {
        const int valid =
            columns <= j ? 0
                         : (columns - j < pack ? static_cast<int>(columns) - j : pack) * static_cast<int>(sizeof(B));
#pragma unroll 1
        for (int i = 0; i < depth / down; ++i)
          if (p + i * down < here)
            copy_async_part<16>(to + i * down * n_pitch, valid > 0 ? source + i * down * data.k_stride : data.data,
                                valid);
      }
    } else {
#pragma unroll 4
      for (int e = lane; e < 32 * depth; e += 32) {
        const int p = along_k ? e % depth : e / 32, j = along_k ? e / depth : e % 32;
        if (p >= here || j >= columns) continue;
        unsigned char* const target = to + (along_k ? j * k_pitch + p * static_cast<int>(sizeof(B))
                                                    : p * n_pitch + j * static_cast<int>(sizeof(B)));
        const B* const source = from + j * data.row_stride + p * data.k_stride;
        if constexpr (sizeof(B) >= 4)
          copy_async<sizeof(B)>(target, source);
        else
          *reinterpret_cast<B*>(target) = *source;
      }
    }
  }

  /// Continues the chains over a stage.
  /// \param rows  a's rows over the same positions, [k][row] with this pitch
  static __device__ void advance(Acc (&chain)[R][C], const Acc* rows, const unsigned char* tile, int lane, bool along_k,
                                 int here) {
    const int lane_n = lane / LanesM;
    rows += lane % LanesM * R;
    if (along_k)
      advance<true>(chain, rows, tile + lane_n * k_pitch, here);
    else
      advance<false>(chain, rows, tile + lane_n * C * static_cast<int>(sizeof(B)), here);
  }

  /// Leaves a lane's values in [row][column].
  static __device__ void deposit(Acc* tile, const Acc (&value)[R][C], int lane, bool along_k) {
    const int lane_m = lane % LanesM, lane_n = lane / LanesM;
#pragma unroll
    for (int i = 0; i < R; ++i)
#pragma unroll
      for (int j = 0; j < C; ++j)
        tile[(lane_m * R + i) * 32 + (along_k ? j * lanes_n + lane_n : lane_n * C + j)] = value[i][j];
  }

 private:
  /// Continues the chains over the first `here` positions of a stage.
  template <bool AlongK>
  static __device__ void advance(Acc (&chain)[R][C], const Acc* rows, const unsigned char* tile, int here) {
    if constexpr (num::Ieee<Acc>) {
      if (here == depth) {
#pragma unroll 2
        for (int p = 0; p < depth; p += pack)
          advance_pack<AlongK>(chain, rows + p * pitch, tile + offset<AlongK>(p, 0));
        return;
      }
    }
#pragma unroll 1
    for (int p = 0; p < here; ++p) {
      Acc y[C];
#pragma unroll
      for (int j = 0; j < C; ++j) y[j] = widened(*reinterpret_cast<const B*>(tile + offset<AlongK>(p, j)));
      step(chain, rows + p * pitch, y);
    }
  }

  /// Bytes to the lane's column j at position p. Along k a lane's columns are `lanes_n` apart, so that neighbouring
  /// lanes read neighbouring columns.
  template <bool AlongK>
  static constexpr __device__ int offset(int p, int j) {
    return AlongK ? j * lanes_n * k_pitch + p * static_cast<int>(sizeof(B))
                  : p * n_pitch + j * static_cast<int>(sizeof(B));
  }

  template <bool AlongK>
  static __device__ void advance_pack(Acc (&chain)[R][C], const Acc* rows, const unsigned char* tile) {
    if constexpr (AlongK) {
      Pack<B, pack> columns[C];
#pragma unroll
      for (int j = 0; j < C; ++j) columns[j] = *reinterpret_cast<const Pack<B, pack>*>(tile + offset<true>(0, j));
#pragma unroll
      for (int p = 0; p < pack; ++p) {
        Acc y[C];
#pragma unroll
        for (int j = 0; j < C; ++j) y[j] = widened(columns[j].v[p]);
        step(chain, rows + p * pitch, y);
      }
    } else {
      constexpr int W = C < pack ? C : pack;
#pragma unroll
      for (int p = 0; p < pack; ++p) {
        Acc y[C];
#pragma unroll
        for (int g = 0; g < C / W; ++g) {
          const auto columns = *reinterpret_cast<const Pack<B, W>*>(tile + offset<false>(p, g * W));
#pragma unroll
          for (int j = 0; j < W; ++j) y[g * W + j] = widened(columns.v[j]);
        }
        step(chain, rows + p * pitch, y);
      }
    }
  }

  static __device__ void step(Acc (&chain)[R][C], const Acc* rows, const Acc (&y)[C]) {
#pragma unroll
    for (int g = 0; g < R / W; ++g) {
      const auto x = *reinterpret_cast<const Pack<Acc, W>*>(rows + g * W);
#pragma unroll
      for (int v = 0; v < W; ++v)
#pragma unroll
        for (int j = 0; j < C; ++j) chain[g * W + v][j] = num::fma(x.v[v], y[j], chain[g * W + v][j]);
    }
  }
};

}  // namespace invar::backends::cuda::gemm

#endif
