// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Where attention finds keys and values: contiguous per request, or in pages.
#ifndef INVAR_OP_KV_CACHE_HPP
#define INVAR_OP_KV_CACHE_HPP

#include <invar/num/types.hpp>
#include <invar/view.hpp>

#include <cstdint>
#include <type_traits>

namespace invar {

/// The elements of one head at one position, widened.
template <class T>
struct HeadRow {
  const T* data;
  std::int64_t stride;
  KOKKOS_FORCEINLINE_FUNCTION num::accumulator_t<T> operator()(std::int64_t d) const {
    return num::widen(T(data[d * stride]));
  }
};

/// Keys and values of each request in one piece.
///
/// \tparam K, V  views [requests, positions, kv_heads, head_dim]; V may have another head_dim and element type
template <ViewOfRank<4> K, ViewOfRank<4> V>
struct ContiguousKv {
  K k;
  V v;

  KOKKOS_FORCEINLINE_FUNCTION auto key(std::int64_t request, std::int64_t position, int head) const {
    return HeadRow<typename K::non_const_value_type>{&k(request, position, head, 0),
                                                     static_cast<std::int64_t>(k.stride(3))};
  }
  KOKKOS_FORCEINLINE_FUNCTION auto value(std::int64_t request, std::int64_t position, int head) const {
    return HeadRow<typename V::non_const_value_type>{&v(request, position, head, 0),
                                                     static_cast<std::int64_t>(v.stride(3))};
  }
  /// Positions that a request can have.
  std::int64_t capacity() const { return static_cast<std::int64_t>(k.extent(1)); }
  std::int64_t requests() const { return static_cast<std::int64_t>(k.extent(0)); }
  void check(const char* operation) const {
    detail::require_extent(operation, "v", v, 0, k.extent(0));
    detail::require_extent(operation, "v", v, 1, k.extent(1));
    detail::require_extent(operation, "v", v, 2, k.extent(2));
  }
};
template <class K, class V>
ContiguousKv(K, V) -> ContiguousKv<K, V>;

/// Keys and values in pages that requests own in any order. Position p of request r is slot p mod page_size of page
/// page_table(r, p / page_size). Entries beyond a request's length are never read.
///
/// \tparam K, V   views [pages, page_size, kv_heads, head_dim]; V may have another head_dim and element type
/// \tparam Table  view of an integer type [requests, pages of a request]
template <ViewOfRank<4> K, ViewOfRank<4> V, ViewOfRank<2> Table>
struct PagedKv {
  static_assert(std::is_integral_v<typename Table::non_const_value_type>,
                "Invar: PagedKv: the page table holds integers");
  K k;
  V v;
  Table page_table;

  KOKKOS_FORCEINLINE_FUNCTION auto key(std::int64_t request, std::int64_t position, int head) const {
    const auto size = static_cast<std::int64_t>(k.extent(1));
    return HeadRow<typename K::non_const_value_type>{&k(page_table(request, position / size), position % size, head, 0),
                                                     static_cast<std::int64_t>(k.stride(3))};
  }
  KOKKOS_FORCEINLINE_FUNCTION auto value(std::int64_t request, std::int64_t position, int head) const {
    const auto size = static_cast<std::int64_t>(v.extent(1));
    return HeadRow<typename V::non_const_value_type>{&v(page_table(request, position / size), position % size, head, 0),
                                                     static_cast<std::int64_t>(v.stride(3))};
  }
  /// Positions that a request can have.
  std::int64_t capacity() const { return static_cast<std::int64_t>(page_table.extent(1) * k.extent(1)); }
  std::int64_t requests() const { return static_cast<std::int64_t>(page_table.extent(0)); }
  void check(const char* operation) const {
    detail::require_extent(operation, "v", v, 0, k.extent(0));
    detail::require_extent(operation, "v", v, 1, k.extent(1));
    detail::require_extent(operation, "v", v, 2, k.extent(2));
    if (k.extent(1) == 0) throw error(operation, "page size", "at least 1", "0");
  }
};
template <class K, class V, class Table>
PagedKv(K, V, Table) -> PagedKv<K, V, Table>;

}  // namespace invar

#endif
