// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A matrix unit multiplies the types of its format only: nothing is converted on the way.
// EXPECT: Invar: matmul: the contract's matrix unit does not multiply these element types
#include <invar/op/matmul.hpp>

#ifdef INVAR_MISUSE
using Element = invar::float16_t;
#else
using Element = invar::bfloat16_t;
#endif

void call(const Kokkos::View<float**, Kokkos::HostSpace>& c,
          const Kokkos::View<const invar::bfloat16_t**, Kokkos::HostSpace>& a,
          const Kokkos::View<const Element**, Kokkos::HostSpace>& b) {
  invar::matmul<invar::contract::Matmul<invar::hopper_16bit>>(Kokkos::DefaultHostExecutionSpace(), c, a, b);
}
