// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows of integers have no contract: nothing is converted behind the user's back.
// EXPECT: Invar: unsupported element type
#include <invar/op/sum.hpp>

#ifdef INVAR_MISUSE
using Element = int;
#else
using Element = invar::bfloat16_t;
#endif

void call(const Kokkos::View<float*, Kokkos::HostSpace>& result,
          const Kokkos::View<const Element**, Kokkos::HostSpace>& x) {
  invar::sum(Kokkos::DefaultHostExecutionSpace(), result, x);
}
