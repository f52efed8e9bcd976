// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A packed matrix is for the fma chains of a host; a matrix unit's model reads matrices as they are.
// EXPECT: Invar: matmul: a PackedMatrix is for contracts with ieee arithmetic
#include <invar/op/matmul.hpp>

#ifdef INVAR_MISUSE
using Contract = invar::contract::Matmul<invar::hopper_16bit>;
#else
using Contract = invar::contract::Matmul<invar::ieee>;
#endif

void call(const Kokkos::View<float**, Kokkos::HostSpace>& c,
          const Kokkos::View<const invar::bfloat16_t**, Kokkos::HostSpace>& a,
          const invar::PackedMatrix<invar::bfloat16_t>& b) {
  invar::matmul<Contract>(Kokkos::DefaultHostExecutionSpace(), c, a, b);
}
