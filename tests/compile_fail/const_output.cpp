// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A result is written, so its view may not be const.
// EXPECT: Invar: the output view is const
#include <invar/op/sum.hpp>

#ifdef INVAR_MISUSE
using Result = Kokkos::View<const float*, Kokkos::HostSpace>;
#else
using Result = Kokkos::View<float*, Kokkos::HostSpace>;
#endif

void call(const Result& result, const Kokkos::View<const float**, Kokkos::HostSpace>& x) {
  invar::sum(Kokkos::DefaultHostExecutionSpace(), result, x);
}
