// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The products of attention with positions in the lanes of vectors, then elements of a value.
#ifndef INVAR_BACKENDS_HOST_ATTENTION_PRODUCTS_HPP
#define INVAR_BACKENDS_HOST_ATTENTION_PRODUCTS_HPP

#include <invar/backends/host/attention_cache.hpp>
#include <invar/backends/host/attention_columns.hpp>

#include <algorithm>

namespace invar::backends::host::attention {

/// Steps 1 and 4 for a chunk of positions, in functions of their own: inlined among other loops, the chains would not
/// stay in registers.
///
/// The sum for 64 bytes of a float cache and a group of 4 query heads, on Zen 5 (two fma and two loads a cycle, 4.1
/// GHz): a line of keys takes 4 fma and, for two half lines, 3 shuffles, which other units do, and 4 loads; a line of
/// values 4 fma and 2 loads. So 2 cycles a line, 131 GB/s; measured in the caches about 3.0 and 2.8. A core reads
/// about 40 GB/s from memory, 6.5 cycles a line. Prefetch is there to let the two overlap, but measured times are close
/// to their sum, also with the products taken from fixed data; why is not known. Touching lines behind the prefetches,
/// other hints, and prefetches spread among the fma changed little.
template <class T>
class KeyProducts {
  using V = Vector<T>;
  static constexpr int lanes = V::lanes;

 public:
  /// score[i][at + j] for j over the rows that columns hold together: a chain over ascending elements from `offset` on.
  template <int Rows, class E>
  [[gnu::noinline]] static void scores(const T* const* query, const E* const* keys, int offset, int head_dim,
                                       T* const* score, int at, Prefetch& prefetch) {
    using Column = Columns<T, E>;
    constexpr int groups = Column::groups;
    constexpr int lines = std::max<int>(1, groups * lanes * Column::depth * static_cast<int>(sizeof(E)) / 64);
    Prefetch ahead = prefetch;
    const T* q[Rows];
    V chain[Rows][groups];
    INVAR_UNROLL_VECTORS
    for (int i = 0; i < Rows; ++i) {
      q[i] = query[i];
      INVAR_UNROLL_VECTORS
      for (int g = 0; g < groups; ++g) chain[i][g] = V::fill(T(0));
    }
    int d = 0;
    for (; d + Column::depth <= head_dim; d += Column::depth) {
      ahead.lines(lines);
      Column column[groups];
      INVAR_UNROLL_VECTORS
      for (int g = 0; g < groups; ++g) column[g].load(keys + g * lanes, offset + d);
      INVAR_UNROLL_VECTORS
      for (int k = 0; k < Column::depth; ++k) INVAR_UNROLL_VECTORS
      for (int i = 0; i < Rows; ++i) {
        const V element = V::fill(q[i][d + k]);
        INVAR_UNROLL_VECTORS
        for (int g = 0; g < groups; ++g) chain[i][g] = fma(element, column[g][k], chain[i][g]);
      }
    }
    prefetch = ahead;
    for (; d < head_dim; ++d) {
      T column[groups * lanes];
      for (int l = 0; l < groups * lanes; ++l) column[l] = num::widen(E(keys[l][offset + d]));
      INVAR_UNROLL_VECTORS
      for (int i = 0; i < Rows; ++i) INVAR_UNROLL_VECTORS
      for (int g = 0; g < groups; ++g) chain[i][g] = fma(V::fill(q[i][d]), V::load(column + g * lanes), chain[i][g]);
    }
    INVAR_UNROLL_VECTORS
    for (int i = 0; i < Rows; ++i) INVAR_UNROLL_VECTORS
    for (int g = 0; g < groups; ++g) chain[i][g].store(score[i] + at + g * lanes);
  }

  /// out[i][v·lanes …] over `count` positions, from what stands there.
  template <int Rows, int Vectors, class E>
  [[gnu::noinline]] static void outputs(T* const* out, const T* const* probability, const E* const* values, int d,
                                        int count, Prefetch& prefetch) {
    constexpr int lines = std::max<int>(1, Vectors * lanes * static_cast<int>(sizeof(E)) / 64);
    Prefetch ahead = prefetch;
    const T* p[Rows];
    V chain[Rows][Vectors];
    INVAR_UNROLL_VECTORS
    for (int i = 0; i < Rows; ++i) {
      p[i] = probability[i];
      INVAR_UNROLL_VECTORS
      for (int v = 0; v < Vectors; ++v) chain[i][v] = V::load(out[i] + v * lanes);
    }
    for (int j = 0; j < count; ++j) {
      ahead.lines(lines);
      const E* const value = values[j] + d;
      V element[Vectors];
      INVAR_UNROLL_VECTORS
      for (int v = 0; v < Vectors; ++v) element[v] = V::load(value + v * lanes);
      INVAR_UNROLL_VECTORS
      for (int i = 0; i < Rows; ++i) {
        const V factor = V::fill(p[i][j]);
        INVAR_UNROLL_VECTORS
        for (int v = 0; v < Vectors; ++v) chain[i][v] = fma(factor, element[v], chain[i][v]);
      }
    }
    prefetch = ahead;
    INVAR_UNROLL_VECTORS
    for (int i = 0; i < Rows; ++i) INVAR_UNROLL_VECTORS
    for (int v = 0; v < Vectors; ++v) chain[i][v].store(out[i] + v * lanes);
  }
};

}  // namespace invar::backends::host::attention

#endif
