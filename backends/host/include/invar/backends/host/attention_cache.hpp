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
#include <cstring>
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

/// `dim` elements, `stride` apart, made dense.
template <class E>
inline void copy_row(E* to, const E* from, std::int64_t stride, int dim) {
  int d = 0;
  if constexpr (std::is_trivially_copyable_v<E>) {
    constexpr int line = std::max<int>(1, 64 / static_cast<int>(sizeof(E)));
    if (stride == 1)
      for (; d + line <= dim; d += line) std::memcpy(to + d, from + d, sizeof(E) * line);
  }
  for (; d < dim; ++d) to[d] = from[d * stride];
}

/// Where the rows of one head, or of neighbouring ones, begin in the memory of a cache, for up to Most neighbouring
/// positions.
template <class E, int Most>
struct Rows {
  const E* at[Most];
  int count = 0;
  int dim;              ///< of the heads together
  std::int64_t stride;  ///< of a row's elements

  bool side_by_side() const { return stride == 1; }
  /// True where rows compete for few places of a first-level cache, which the low bits of an address choose.
  bool meet() const {
    return count > 1 && (reinterpret_cast<std::uintptr_t>(at[1]) - reinterpret_cast<std::uintptr_t>(at[0])) % 4096 == 0;
  }
};

/// Asks for rows line by line, in the order of memory.
class Prefetch {
 public:
  /// The rows from `first` on, at most `count` of them.
  template <class E, int Most>
  Prefetch(const Rows<E, Most>& rows, int first, int count) {
    count = std::min(count, rows.count - first);
    if (!rows.side_by_side() || count <= 0) return;
    row_ = reinterpret_cast<const char* const*>(rows.at) + first;
    bytes_ = rows.dim * static_cast<std::int64_t>(sizeof(E));
    left_ = count;
    if (row_[count - 1] - row_[0] == (count - 1) * bytes_) {  // one piece
      bytes_ *= count;
      left_ = 1;
    }
    begin_row();
  }

  /// Asks for the next n lines.
  void lines(int n) {
    while (left_ > 0) {
      const char* const stop = next_ + 64 * n;
      for (; next_ < stop && next_ < end_; next_ += 64) ask_for(next_);
      if (next_ < end_) return;
      n = static_cast<int>((stop - next_) / 64);
      ++row_;
      if (--left_ > 0) begin_row();
    }
  }

 private:
  void begin_row() {
    next_ = *row_ - (reinterpret_cast<std::uintptr_t>(*row_) & 63u);
    end_ = *row_ + bytes_;
  }
  static void ask_for(const char* address) {
#if defined(__GNUC__)
    __builtin_prefetch(address, 0, 3);
#else
    (void)address;
#endif
  }

  const char* const* row_ = nullptr;
  int left_ = 0;
  std::int64_t bytes_ = 0;
  const char *next_ = nullptr, *end_ = nullptr;
};

/// The keys or values of one request and head, or of neighbouring heads that lie side by side.
template <class E>
struct CacheSide {
  using element = E;
  Cache<E> cache;
  Integers page_table;  ///< where the cache is in pages
  std::int64_t request;
  int head, dim;  ///< the first head; elements of all

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
    // Kernels may read a row more often, but no other.
    for (int i = count; i < Most && i % 32 != 0; ++i) rows.at[i] = rows.at[count - 1];
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
