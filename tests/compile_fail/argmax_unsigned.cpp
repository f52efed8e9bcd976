// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An index that cannot be -1, or is rounded to a float, is not stored.
// EXPECT: Invar: argmax: the result holds signed integers
#include <invar/op/argmax.hpp>

#ifdef INVAR_MISUSE
using Index = unsigned;
#else
using Index = int;
#endif

void call(const Kokkos::View<Index*, Kokkos::HostSpace>& result,
          const Kokkos::View<const float**, Kokkos::HostSpace>& x) {
  invar::argmax(Kokkos::DefaultHostExecutionSpace(), result, x);
}
