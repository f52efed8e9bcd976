// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Register tiles of fma chains on vectors: the inner loop of matmul on a host.
#ifndef INVAR_BACKENDS_HOST_REGISTER_TILE_HPP
#define INVAR_BACKENDS_HOST_REGISTER_TILE_HPP

#include <invar/backends/host/simd.hpp>

#include <cstdint>
#include <utility>

namespace invar::backends::host {

/// Columns of b that lie side by side in every layout which the tiles read.
inline constexpr int panel_columns = 32;

/// Elements of a cache line.
template <class E>
inline constexpr int line_elements = sizeof(E) < 64 ? 64 / sizeof(E) : 1;

/// The shape of a tile: so many rows by so many vectors of columns stay in registers, with a row of b and one element
/// of a.
template <class T>
struct TileShape {
  static constexpr int panel_vectors = panel_columns / Vector<T>::lanes;
  static constexpr int max_rows = Vector<T>::registers >= 32 ? 14 : 6;
  /// Few rows take several panels at once, so that enough chains hide the latency of an fma. One row needs no
  /// registers for b, whose vectors are used once.
  static constexpr int vectors(int rows) {
    int most = 8;
    while (most > 2 && rows > 1 && (rows + 1) * most + 1 > Vector<T>::registers) most /= 2;
    return most;
  }
};

/// The most rows of b in a stretch, and elements between rows of a: a constant, so that all rows of a tile are
/// addressed by one register; and rows do not fall into the same sets of the first-level cache.
inline constexpr int most_depth = 512;
inline constexpr std::int64_t a_stride = most_depth + 16;

/// A stretch of b, along which chains advance: `depth` rows of vectors.
template <class E>
struct Stretch {
  const E* data;
  std::int64_t row_stride;    ///< elements from one k to the next
  std::int64_t panel_stride;  ///< elements from one panel of 32 columns to the next
  int depth;
  std::int64_t ahead = 0;  ///< elements to what will be read after the stretch's first panel, to be fetched meanwhile
  bool streams = false;    ///< its packed panels come from memory rather than from a cache, as far as the shape tells
};

/// Sums of a block of rows: each a running total of finished leaves, and the chain of the leaf at hand. The first leaf
/// begins the total, which has the bits of −0 plus that leaf.
template <class T>
struct Sums {
  T* total;
  T* chain;  ///< used only where a leaf spans several stretches
  std::int64_t row_stride;
  bool begins;  ///< the stretch begins a leaf
  bool ends;    ///< it ends it
  bool first;   ///< the leaf is the first
};

/// acc[i][j] = fma(a[i][k], b[k][j], acc[i][j]) for the stretch's k in ascending order, for Rows rows and Vectors
/// vectors of columns, which begin at b and at `column` of the sums.
///
/// \tparam Streams  ask for what lies 128 rows of a packed panel ahead
template <int Rows, int Vectors, bool Streams, class T, class E>
inline void advance_tile(const Sums<T>& sums, std::int64_t column, const T* a, const E* b, const Stretch<E>& stretch) {
  using V = Vector<T>;
  constexpr int panel_vectors = TileShape<T>::panel_vectors;
  const std::int64_t row_stride = sums.row_stride;
  T* const chain = sums.chain + column;
  V acc[Rows][Vectors];
  if (sums.begins) {
    INVAR_UNROLL_VECTORS
    for (int i = 0; i < Rows; ++i) INVAR_UNROLL_VECTORS
    for (int j = 0; j < Vectors; ++j) acc[i][j] = V::fill(T(0));
  } else {
    INVAR_UNROLL_VECTORS
    for (int i = 0; i < Rows; ++i) INVAR_UNROLL_VECTORS
    for (int j = 0; j < Vectors; ++j) acc[i][j] = V::load(chain + i * row_stride + j * V::lanes);
  }
  const E* row_of_b = b;
  for (int k = 0; k < stretch.depth; ++k, row_of_b += stretch.row_stride) {
    V row[Vectors];
    INVAR_UNROLL_VECTORS
    for (int j = 0; j < Vectors; ++j)
      row[j] = V::load(row_of_b + (j / panel_vectors) * stretch.panel_stride + (j % panel_vectors) * V::lanes);
    if constexpr (Streams)
      for (int j = 0; j < Vectors * V::lanes; j += line_elements<E>) prefetch(row_of_b + 128 * panel_columns + j);
    // With more rows than these, what follows the panel is asked for; with fewer, the processor's own prefetching keeps
    // up.
    if constexpr (Rows > 6)
      for (int j = 0; j < Vectors * V::lanes; j += line_elements<E>) prefetch(row_of_b + stretch.ahead + j);
    INVAR_UNROLL_VECTORS
    for (int i = 0; i < Rows; ++i) {
      const V x = V::fill(a[i * a_stride + k]);
      INVAR_UNROLL_VECTORS
      for (int j = 0; j < Vectors; ++j) acc[i][j] = fma(x, row[j], acc[i][j]);
    }
  }
  if (sums.ends && !sums.first) {
    T* const total = sums.total + column;
    INVAR_UNROLL_VECTORS
    for (int i = 0; i < Rows; ++i) INVAR_UNROLL_VECTORS
    for (int j = 0; j < Vectors; ++j) {
      T* const sum = total + i * row_stride + j * V::lanes;
      add(V::load(sum), acc[i][j]).store(sum);
    }
  } else {
    T* const to = sums.ends ? sums.total + column : chain;
    INVAR_UNROLL_VECTORS
    for (int i = 0; i < Rows; ++i) INVAR_UNROLL_VECTORS
    for (int j = 0; j < Vectors; ++j) acc[i][j].store(to + i * row_stride + j * V::lanes);
  }
}

/// Numbers of rows for which packed panels from memory were measured to be best read one by one, with vectors of 64
/// bytes. For elements of 32 bits the processor's own prefetching serves fewer rows as well.
template <class T, class E>
constexpr bool streams_panels(int rows) {
  return TileShape<T>::panel_vectors <= 2 && rows <= 6 && (sizeof(E) == 2 || rows >= 4);
}

/// The same for `panels` panels.
template <int Rows, class T, class E>
void advance_rows(const Sums<T>& sums, const T* a, const Stretch<E>& stretch, int panels) {
  constexpr int panel_vectors = TileShape<T>::panel_vectors;
  constexpr int wide = TileShape<T>::vectors(Rows);
  constexpr int narrow = wide < panel_vectors ? wide : panel_vectors;
  const int vectors = panels * panel_vectors;
  const auto place = [&](int v) {
    return stretch.data + (v / panel_vectors) * stretch.panel_stride + (v % panel_vectors) * Vector<T>::lanes;
  };
  int v = 0;
  // Panels from memory are read one by one, from front to back as one stream. That leaves few chains: in a cache, more
  // panels at once are faster.
  if constexpr (streams_panels<T, E>(Rows))
    if (stretch.streams)
      for (; v < vectors; v += panel_vectors)
        advance_tile<Rows, panel_vectors, true>(sums, v * Vector<T>::lanes, a, place(v), stretch);
  for (; v + wide <= vectors; v += wide)
    advance_tile<Rows, wide, false>(sums, v * Vector<T>::lanes, a, place(v), stretch);
  if constexpr (narrow < wide)
    for (; v < vectors; v += narrow)
      advance_tile<Rows, narrow, false>(sums, v * Vector<T>::lanes, a, place(v), stretch);
}

template <class T, class E>
struct AdvanceRows {
  using Function = void (*)(const Sums<T>&, const T*, const Stretch<E>&, int);
  template <int... Less>
  static constexpr auto table(std::integer_sequence<int, Less...>) {
    struct Table {
      Function by_rows[sizeof...(Less)];
    };
    return Table{{advance_rows<Less + 1, T, E>...}};
  }
};

/// The same for any number of rows, in tiles of at most `tile_rows`.
template <class T, class E>
void advance(const Sums<T>& sums, int rows, int tile_rows, const T* a, Stretch<E> stretch, int panels) {
  static constexpr auto table = AdvanceRows<T, E>::table(std::make_integer_sequence<int, TileShape<T>::max_rows>());
  const int most = tile_rows < TileShape<T>::max_rows ? tile_rows : TileShape<T>::max_rows;
  const int tiles = (rows + most - 1) / most;
  for (int tile = 0; tile < tiles; ++tile) {
    const int begin = rows * tile / tiles, end = rows * (tile + 1) / tiles;
    Sums<T> of_tile = sums;
    of_tile.total += begin * sums.row_stride;
    of_tile.chain += begin * sums.row_stride;
    table.by_rows[end - begin - 1](of_tile, a + begin * a_stride, stretch, panels);
    stretch.ahead = 0;  // it has been asked for
  }
}

}  // namespace invar::backends::host

#endif
