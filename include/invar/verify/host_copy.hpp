// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Any view element by element on the host.
#ifndef INVAR_VERIFY_HOST_COPY_HPP
#define INVAR_VERIFY_HOST_COPY_HPP

#include <invar/num/types.hpp>
#include <invar/verify/trace.hpp>

#include <Kokkos_Core.hpp>
#include <array>
#include <cstdint>
#include <type_traits>

namespace invar::verify {

/// An element's bits as an unsigned integer of its size.
template <class T>
auto element_bits(const T& x) {
  if constexpr (std::is_same_v<T, Trace>)
    return x.hash;
  else if constexpr (std::is_integral_v<T>)
    return static_cast<std::make_unsigned_t<T>>(x);
  else if constexpr (sizeof(T) <= 2)
    return x.bits;
  else
    return num::to_bits(x);
}

/// A view's elements by rows without gaps, in another memory space. Kokkos cannot copy between host and device where
/// either side has gaps.
template <class V, class Space>
using Compact = Kokkos::View<typename V::non_const_data_type, Kokkos::LayoutRight, Space>;

/// The layout of Compact for a view's extents.
template <class V>
Kokkos::LayoutRight compact_layout(const V& v) {
  Kokkos::LayoutRight layout;
  for (int d = 0; d < static_cast<int>(V::rank); ++d) layout.dimension[d] = v.extent(d);
  return layout;
}

template <class V>
inline constexpr bool is_host_accessible_v =
    Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename V::memory_space>::accessible;

/// The view itself where the host reaches its memory, else a copy of it.
template <class V>
auto on_host(const V& v) {
  if constexpr (is_host_accessible_v<V>) {
    return v;
  } else {
    const Compact<V, typename V::memory_space> compact("Invar::verify::compact", compact_layout(v));
    const Compact<V, Kokkos::HostSpace> host("Invar::verify::host", compact_layout(v));
    Kokkos::deep_copy(compact, v);
    Kokkos::deep_copy(host, compact);
    return host;
  }
}

/// Calls visit(element) for every element in logical order, last index fastest, from a copy on the host where needed.
template <class V, class Visit>
void for_each_element(const V& v, const Visit& visit) {
  Kokkos::fence("Invar::verify: a view is read on the host");
  const auto host = on_host(v);
  constexpr int rank = static_cast<int>(V::rank);
  static_assert(rank <= 4, "Invar: digest and compare take views of rank 0 to 4");
  std::array<std::int64_t, 4> n{1, 1, 1, 1};
  for (int d = 0; d < rank; ++d) n[4 - rank + d] = static_cast<std::int64_t>(v.extent(d));
  for (std::int64_t a = 0; a < n[0]; ++a)
    for (std::int64_t b = 0; b < n[1]; ++b)
      for (std::int64_t c = 0; c < n[2]; ++c)
        for (std::int64_t d = 0; d < n[3]; ++d) {
          if constexpr (rank == 0) visit(host());
          if constexpr (rank == 1) visit(host(d));
          if constexpr (rank == 2) visit(host(c, d));
          if constexpr (rank == 3) visit(host(b, c, d));
          if constexpr (rank == 4) visit(host(a, b, c, d));
        }
}

}  // namespace invar::verify

#endif
