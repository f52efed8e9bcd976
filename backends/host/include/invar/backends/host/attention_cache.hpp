// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Keys or values of neighbouring positions, wherever the cache keeps them.
#ifndef INVAR_BACKENDS_HOST_ATTENTION_CACHE_HPP
#define INVAR_BACKENDS_HOST_ATTENTION_CACHE_HPP

#include <invar/backends/host/attention_problem.hpp>
#include <invar/backends/host/simd.hpp>
#include <invar/num/types.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace invar::backends::host::attention {

/// Positions that are looked up together: at most this many rows are widened into a buffer at a time.
template <class Contract>
inline constexpr int piece = Contract::block < 128 ? Contract::block : 128;

/// Elements from one row of the buffer to the next: whole vectors.
template <class T>
inline constexpr int padded(int dim) {
  constexpr int lanes = Vector<num::accumulator_t<T>>::lanes;
  return (dim + lanes - 1) / lanes * lanes;
}

/// `dim` elements, `stride` apart, widened where T is not their type.
template <class T, class E>
inline void widen_row(T* to, const E* from, std::int64_t stride, int dim) {
  int d = 0;
  if constexpr (std::is_same_v<T, E>) {
    for (; d < dim; ++d) to[d] = from[d * stride];
  } else {
    if (stride == 1)
      for (; d + Vector<T>::lanes <= dim; d += Vector<T>::lanes) Vector<T>::load(from + d).store(to + d);
    for (; d < dim; ++d) to[d] = num::widen(E(from[d * stride]));
  }
}

/// Where the rows of one head begin in the memory of a cache, for up to Most neighbouring positions.
template <class E, int Most>
struct Rows {
  const E* at[Most];
  int count = 0;
  int dim;
  std::int64_t stride;  ///< of a row's elements

  bool side_by_side() const { return stride == 1; }

  /// Asks for part number `part` of `parts` equal ones, and waits for what was asked for some lines before: a processor
  /// drops requests that it has no room for. So the memory sets the pace, and its queue stays full.
  void prefetch_part(int part, int parts) const {
    if (!side_by_side()) return;
    const int lines = std::max(1, dim * static_cast<int>(sizeof(E)) / 64);
    const int behind = std::max(1, lines_on_the_way / lines);
    for (int i = count * part / parts; i < count * (part + 1) / parts; ++i) {
      each_line(i, [](const char* p) { ask_for(p); });
      if (i >= behind) each_line(i - behind, [](const volatile char* p) { (void)*p; });
    }
  }
  /// Copies rows whose elements are apart to `buffer`, which has room for them with padded(dim) each.
  template <class T>
  void make_dense(T* buffer) {
    if (side_by_side()) return;
    E* to = reinterpret_cast<E*>(buffer);
    for (int i = 0; i < count; ++i, to += padded<E>(dim)) {
      widen_row(to, at[i], stride, dim);
      at[i] = to;
    }
    stride = 1;
  }
  /// Reads every cache line, in the order of memory, which the processor's prefetching follows.
  void touch() const {
    if (side_by_side())
      for (int i = 0; i < count; ++i) each_line(i, [](const volatile char* p) { (void)*p; });
  }

 private:
  /// Measured: 48 and 96 gave less, 256 no more, from a memory of 40 GB/s a core.
  static constexpr int lines_on_the_way = 160;

  static void ask_for(const char* address) {
#if defined(__GNUC__)
    __builtin_prefetch(address);
#else
    (void)address;
#endif
  }
  template <class Use>
  void each_line(int i, const Use& use) const {
    const char* const begin = reinterpret_cast<const char*>(at[i]);
    const char* const end = reinterpret_cast<const char*>(at[i] + dim);
    for (const char* p = begin; p < end; p += 64) use(p);
    // A row that begins inside a line ends in one more.
    if ((reinterpret_cast<std::uintptr_t>(begin) & 63u) != 0 && begin < end) use(end - 1);
  }
};

/// The keys or values of one request and head.
template <class E>
struct CacheSide {
  using element = E;
  Cache<E> cache;
  Integers page_table;  ///< where the cache is in pages
  std::int64_t request;
  int head, dim;

  /// Positions [begin, begin + count).
  template <int Most>
  void locate(Rows<E, Most>& rows, std::int64_t begin, int count) const {
    rows.count = count;
    rows.dim = dim;
    rows.stride = dim == 1 ? 1 : cache.element;
    if (count <= 0) return;
    std::int64_t page = begin / cache.page_size, slot = begin % cache.page_size;
    for (int i = 0; i < count; ++page, slot = 0) {
      const std::int64_t piece_number = page_table.given() ? page_table(request, page) : request;
      const E* at = cache.data + piece_number * cache.page + slot * cache.position + head * cache.head;
      const int end = static_cast<int>(std::min<std::int64_t>(count, i + cache.page_size - slot));
      for (; i < end; ++i, at += cache.position) rows.at[i] = at;
    }
  }
};

/// Row pointers to elements of T that lie side by side: in the cache itself, if they lie there so, or copied to
/// `buffer`, widened if need be, with garbage up to padded(dim) behind each.
template <class T, class E, int Most>
inline const T* const* dense_rows(T* buffer, const Rows<E, Most>& rows, const T** at) {
  if constexpr (std::is_same_v<E, T>)
    if (rows.side_by_side()) return rows.at;
  for (int i = 0; i < rows.count; ++i) {
    at[i] = buffer + i * padded<T>(rows.dim);
    widen_row(buffer + i * padded<T>(rows.dim), rows.at[i], rows.stride, rows.dim);
  }
  return at;
}

}  // namespace invar::backends::host::attention

#endif
