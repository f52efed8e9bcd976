// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An operation takes the contracts of its own kind only.
// EXPECT: Invar: sum takes a contract::Rows
#include <invar/contract/matmul.hpp>
#include <invar/op/sum.hpp>

#ifdef INVAR_MISUSE
using Contract = invar::contract::Matmul<invar::ieee, 512>;
#else
using Contract = invar::contract::Sum;
#endif

void call(const Kokkos::View<float*, Kokkos::HostSpace>& result,
          const Kokkos::View<const float**, Kokkos::HostSpace>& x) {
  invar::sum<Contract>(Kokkos::DefaultHostExecutionSpace(), result, x);
}
