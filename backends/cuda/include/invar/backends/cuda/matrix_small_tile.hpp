// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// A tile of a small matrix product as one warpgroup sees it: where its operands lie in a stage, and its products.
#ifndef INVAR_BACKENDS_CUDA_MATRIX_SMALL_TILE_HPP
#define INVAR_BACKENDS_CUDA_MATRIX_SMALL_TILE_HPP

#include <invar/backends/cuda/matrix_small_copy.hpp>
#include <invar/backends/cuda/matrix_small_ring.hpp>
#include <invar/backends/cuda/matrix_unit.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace invar::backends::cuda::small {

/// The operand of the instruction whose rows come by 64 is the weights, or the batch where that fills the chip better.
enum class Rows { weights, batch };

/// The shape of a tile. A stage holds some chunks of 64 positions of k.
/// \tparam RowTile, ColumnTile  outputs along the instruction's rows and columns
template <Rows Role, int RowTile, int ColumnTile, int Chunks>
struct TileShape {
  static_assert(RowTile % 64 == 0 && ColumnTile % 8 == 0);
  static constexpr Rows role = Role;
  static constexpr int row_tile = RowTile, column_tile = ColumnTile, chunks = Chunks;
  static constexpr bool weights_are_rows = Role == Rows::weights;
  static constexpr int weights = weights_are_rows ? RowTile : ColumnTile;
  static constexpr int batch = weights_are_rows ? ColumnTile : RowTile;
  static constexpr int depth = Chunks * chunk;      ///< positions of k in a stage
  static constexpr int steps = depth / 16;          ///< instructions of a stage
  static constexpr int warps = RowTile / 64 * 4;    ///< that multiply; one more copies
  static constexpr int registers = ColumnTile / 2;  ///< outputs of a thread
  static constexpr int threads = warps * 32 + 32;
};

namespace detail {

/// d += a·b for 48 columns, which matrix_unit.hpp does without.
template <class Types, class Majors>
__device__ inline void wgmma_48([[maybe_unused]] float (&d)[24], [[maybe_unused]] SharedOperand a,
                                [[maybe_unused]] SharedOperand b) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n48%26 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23"
      "}, %24, %25, 1, 1, 1%27;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),
        "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]),
        "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23])
      : "l"(a.bits()), "l"(b.bits()), "C"(Types::text), "C"(Majors::text));
#endif
}

/// d += a·b for any width that the tiles use.
template <class T, Major MajorA, Major MajorB, int Registers>
__device__ inline void multiply(float (&d)[Registers], SharedOperand a, SharedOperand b) {
  if constexpr (Registers == 24)
    wgmma_48<cuda::detail::WgmmaTypes<T, T>, cuda::detail::WgmmaMajors<true, true, MajorA, MajorB>>(d, a, b);
  else
    wgmma<T, T, MajorA, MajorB>(d, a, b, true);
}

}  // namespace detail

/// The products of one warpgroup. A chunk of the batch is [row][64 of k]; of the weights too, or, stored [K, N], blocks
/// of [64 of k][64 columns].
template <class T, class Shape, Major Weights>
class TileProducts {
  static constexpr Major major_rows = Shape::weights_are_rows ? Weights : Major::k;
  static constexpr Major major_columns = Shape::weights_are_rows ? Major::k : Weights;
  static constexpr int registers = Shape::registers;
  static constexpr std::uint32_t weights_chunk = Shape::weights * chunk_bytes;

 public:
  /// \param batch_chunk  bytes of a chunk of the batch. It may have fewer rows than the tile: what is read beyond them
  ///                     becomes outputs beyond the batch.
  __device__ TileProducts(std::uint32_t batch_chunk, int warpgroup)
      : batch_chunk_(batch_chunk), warpgroup_bytes_(static_cast<std::uint32_t>(warpgroup) * 64 * chunk_bytes) {}

  /// The chain of one leaf, from +0. Beyond k the operands are filled with zeros, which change no chain.
  /// \param stages  that the leaf takes
  __device__ void leaf(float (&chain)[registers], RingPlace& place, int stages) const {
    std::uint32_t before = 0;
    // Not by leaving the sum before the first product unread: the compiler would then wait after every stage.
#pragma unroll
    for (int i = 0; i < registers; ++i) chain[i] = 0.0f;
#pragma unroll 1
    for (int s = 0; s < stages; ++s) {
      place.wait_until_full();
      fence_products();
#pragma unroll
      for (int step = 0; step < Shape::steps; ++step) multiply(chain, place, step);
      commit_products();
      wait_products<1>();
      if (s > 0) RingPlace::let_go(before);
      before = place.empty();
      place.advance();
    }
    wait_products<0>();
    pin(chain);
    RingPlace::let_go(before);
  }

 private:
  __device__ void multiply(float (&chain)[registers], const RingPlace& place, int step) const {
    constexpr int steps_of_chunk = chunk / 16;
    const int in_chunk = step % steps_of_chunk;
    const auto piece = static_cast<std::uint32_t>(step / steps_of_chunk);
    const std::uint32_t weights = place.weights() + piece * weights_chunk, batch = place.batch() + piece * batch_chunk_;
    const SharedOperand rows = operand<major_rows>((Shape::weights_are_rows ? weights : batch) + warpgroup_bytes_);
    const SharedOperand columns = operand<major_columns>(Shape::weights_are_rows ? batch : weights);
    detail::multiply<T, major_rows, major_columns>(chain, rows + step_bytes<major_rows>() * in_chunk,
                                                   columns + step_bytes<major_columns>() * in_chunk);
  }

  /// Atoms of 8 lines follow each other; those of the next 64 columns follow 64 lines of k.
  template <Major M>
  static __device__ SharedOperand operand(std::uint32_t at) {
    return {__cvta_shared_to_generic(at), Swizzle::bytes128, M == Major::k ? 0u : 64u * chunk_bytes, 8u * chunk_bytes};
  }
  template <Major M>
  KOKKOS_FUNCTION static constexpr std::uint32_t step_bytes() {
    return M == Major::k ? 32u : 16u * chunk_bytes;
  }

  std::uint32_t batch_chunk_, warpgroup_bytes_;
};

}  // namespace invar::backends::cuda::small

#endif
