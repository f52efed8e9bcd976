// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an epilogue adds has the accumulator of the product's sums: a float bias does not meet a product of doubles.
// EXPECT: Invar: the bias and the residual of an epilogue must accumulate in the type of the product's sums
#include <invar/op/matmul.hpp>

#ifdef INVAR_MISUSE
using Element = float;
#else
using Element = double;
#endif

void call(const Kokkos::View<double**, Kokkos::HostSpace>& c, const Kokkos::View<const double**, Kokkos::HostSpace>& a,
          const Kokkos::View<const double**, Kokkos::HostSpace>& b,
          const Kokkos::View<const Element*, Kokkos::HostSpace>& bias) {
  invar::matmul(Kokkos::DefaultHostExecutionSpace(), c, a, b, bias);
}
