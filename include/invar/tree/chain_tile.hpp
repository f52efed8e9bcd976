// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// A register tile of fma chains: the inner loop of matmul and attention.
#ifndef INVAR_TREE_CHAIN_TILE_HPP
#define INVAR_TREE_CHAIN_TILE_HPP

#include <invar/num/arithmetic.hpp>
#include <invar/num/types.hpp>

#include <Kokkos_Macros.hpp>
#include <cstdint>

namespace invar::tree {

/// acc[i][j] = fma(a[i][k], b[k][j], acc[i][j]) for k = 0 … depth − 1 in ascending order. Every output is a chain of
/// its own, so the tile's size and the order of i and j cannot reach the bits, and a chain may be continued by another
/// call.
///
/// \tparam M, N  the tile: M·N accumulators stay in registers, N runs along the vectors
/// \param acc  [M, N] dense
/// \param a    [M, depth], rows lda apart
/// \param b    [depth, N], rows ldb apart; of an element type that widens to T
template <int M, int N, class T, class B>
KOKKOS_INLINE_FUNCTION void chain_tile(T* acc, const T* a, std::int64_t lda, const B* b, std::int64_t ldb,
                                       std::int64_t depth) {
  T tile[M][N];
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) tile[i][j] = acc[i * N + j];
  for (std::int64_t k = 0; k < depth; ++k) {
    const B* row = b + k * ldb;
    // With i inside, gcc and clang keep the whole tile in registers; with j inside, they spill it (measured).
    for (int j = 0; j < N; ++j)
      for (int i = 0; i < M; ++i) tile[i][j] = num::fma(a[i * lda + k], num::widen(row[j]), tile[i][j]);
  }
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) acc[i * N + j] = tile[i][j];
}

}  // namespace invar::tree

#endif
