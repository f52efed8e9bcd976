// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The operands of a product on a host as its register tiles read them: rows of a, panels of 32 columns of b.
#ifndef INVAR_BACKENDS_HOST_PANELS_HPP
#define INVAR_BACKENDS_HOST_PANELS_HPP

#include <invar/backends/host/register_tile.hpp>
#include <invar/packed_matrix.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace invar::backends::host {

/// A matrix in memory.
template <class E>
struct Strided {
  const E* data;
  std::int64_t row_stride, column_stride;

  const E* at(std::int64_t i, std::int64_t j) const { return data + i * row_stride + j * column_stride; }
};

template <class View>
Strided<typename View::non_const_value_type> strided(const View& v) {
  return {v.data(), static_cast<std::int64_t>(v.stride(0)), static_cast<std::int64_t>(v.stride(1))};
}

/// Element (i, j) to `to[i·to_stride + j]`, widened.
template <class T, class E>
void copy_elements(T* to, std::int64_t to_stride, const Strided<E>& from, std::int64_t row0, int rows,
                   std::int64_t column0, int columns) {
  constexpr int lanes = Vector<T>::lanes;
  for (int i = 0; i < rows; ++i) {
    int j = 0;
    if (from.column_stride == 1)
      for (; j + lanes <= columns; j += lanes)
        Vector<T>::load(from.at(row0 + i, column0 + j)).store(to + i * to_stride + j);
    for (; j < columns; ++j) to[i * to_stride + j] = num::widen(*from.at(row0 + i, column0 + j));
  }
}

/// The same for a matrix whose columns are contiguous. So many columns are read beside each other that processors do
/// not prefetch them all by themselves; what follows in each, which is read next or soon, is asked for.
template <class T, class E>
void copy_columns(T* to, std::int64_t to_stride, const Strided<E>& from, std::int64_t row0, int rows,
                  std::int64_t column0, int columns) {
  using V = Vector<T>;
  constexpr std::int64_t ahead = 8 * line_elements<E>;
  int j = 0;
  for (; j + V::lanes <= columns; j += V::lanes) {
    int i = 0;
    for (; i + V::lanes <= rows; i += V::lanes) {
      V square[V::lanes];
      INVAR_UNROLL_VECTORS
      for (int l = 0; l < V::lanes; ++l) {
        const E* const column = from.at(row0 + i, column0 + j + l);
        square[l] = V::load(column);
        prefetch(column + ahead);
      }
      V::transpose(square);
      INVAR_UNROLL_VECTORS
      for (int l = 0; l < V::lanes; ++l) square[l].store(to + (i + l) * to_stride + j);
    }
    if (i < rows) copy_elements(to + i * to_stride + j, to_stride, from, row0 + i, rows - i, column0 + j, V::lanes);
  }
  if (j < columns) copy_elements(to + j, to_stride, from, row0, rows, column0 + j, columns - j);
}

/// Packed matrices of no more bytes may wait in a core's second-level cache for their next use.
inline constexpr std::size_t cached_bytes = 512 << 10;

/// b in a PackedMatrix.
template <class T, class Memory>
struct PackedPanels {
  PackedMatrix<T, Memory> packed;

  /// Calls product(stretch, first panel, panels) for panels [begin, end), `at_once` at a time.
  template <class Accumulator, class Product>
  void each(std::int64_t begin, std::int64_t end, std::int64_t at_once, std::int64_t k0, int depth, Accumulator*,
            const Product& product) const {
    const std::int64_t panel = packed.panel_columns * packed.block_depth(k0 - k0 % packed.block_k);
    const bool streams = packed.bytes() > cached_bytes;
    for (std::int64_t p = begin; p < end; p += at_once)
      product(Stretch<T>{packed.row(k0, p), packed.panel_columns, panel, depth, panel, streams}, p,
              static_cast<int>(std::min(at_once, end - p)));
  }
};

/// b as it is. Where rows of it are contiguous and `in_place` is set, whole panels are read where they lie; others are
/// copied into `scratch` first.
template <class E>
struct ViewPanels {
  Strided<E> b;
  std::int64_t n;
  bool in_place;

  template <class T, class Product>
  void each(std::int64_t begin, std::int64_t end, std::int64_t at_once, std::int64_t k0, int depth, T* scratch,
            const Product& product) const {
    if (in_place && b.column_stride == 1) {
      const std::int64_t whole = std::min(end, n / panel_columns);
      if (begin < whole)
        product(Stretch<E>{b.at(k0, begin * panel_columns), b.row_stride, panel_columns, depth}, begin,
                static_cast<int>(whole - begin));
      begin = std::max(begin, whole);
    }
    for (std::int64_t p = begin; p < end; p += at_once) {
      const std::int64_t panels = std::min(at_once, end - p);
      for (std::int64_t q = 0; q < panels; ++q) copy(scratch + q * panel_columns * depth, p + q, k0, depth);
      product(Stretch<T>{scratch, panel_columns, panel_columns * depth, depth}, p, static_cast<int>(panels));
    }
  }

 private:
  /// A panel, with zeros beyond the last column.
  template <class T>
  void copy(T* to, std::int64_t panel, std::int64_t k0, int depth) const {
    const std::int64_t column0 = panel * panel_columns;
    const int columns = static_cast<int>(std::min<std::int64_t>(panel_columns, n - column0));
    if (b.row_stride == 1)
      copy_columns(to, panel_columns, b, k0, depth, column0, columns);
    else
      copy_elements(to, panel_columns, b, k0, depth, column0, columns);
    if (columns < panel_columns)
      for (int k = 0; k < depth; ++k) std::fill(to + k * panel_columns + columns, to + (k + 1) * panel_columns, T(0));
  }
};

}  // namespace invar::backends::host

#endif
