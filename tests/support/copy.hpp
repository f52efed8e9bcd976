// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies of views of memory that the host reaches, by plain loops: Kokkos::deep_copy would make a kernel of each pair
// of types, which takes longer to compile than the operation that is tested.
#ifndef INVAR_TESTS_SUPPORT_COPY_HPP
#define INVAR_TESTS_SUPPORT_COPY_HPP

#include <Kokkos_Core.hpp>
#include <cstddef>

namespace invar::test {

/// to(i...) = from(i...) for views of equal extents, of rank 1 to 3, after a fence.
template <class To, class From>
void copy(const To& to, const From& from) {
  constexpr int rank = static_cast<int>(To::rank);
  static_assert(rank == static_cast<int>(From::rank) && rank >= 1 && rank <= 3);
  Kokkos::fence("a view is copied on the host");
  for (std::size_t i = 0; i < to.extent(0); ++i)
    if constexpr (rank == 1)
      to(i) = from(i);
    else
      for (std::size_t j = 0; j < to.extent(1); ++j)
        if constexpr (rank == 2)
          to(i, j) = from(i, j);
        else
          for (std::size_t k = 0; k < to.extent(2); ++k) to(i, j, k) = from(i, j, k);
}

}  // namespace invar::test

#endif
