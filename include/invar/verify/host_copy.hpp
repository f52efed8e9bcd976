// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Reading any view element by element on the host.
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
  else if constexpr (sizeof(T) == 2)
    return x.bits;
  else
    return num::to_bits(x);
}

/// Calls visit(element) for every element in logical order, last index fastest, from a copy on the host where needed.
template <class V, class Visit>
void for_each_element(const V& v, const Visit& visit) {
  Kokkos::fence("Invar::verify: a view is read on the host");
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, v);
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
