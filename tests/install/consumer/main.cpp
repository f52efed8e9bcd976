// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Uses Invar as a stranger would, and looks whether Invar::StrictFP reached the compiler.
#include <invar/op/sum.hpp>
#include <invar/version.hpp>

#include <Kokkos_Core.hpp>

#include <cstdio>

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  const Kokkos::DefaultHostExecutionSpace exec;
  Kokkos::View<float**, Kokkos::HostSpace> x("x", 3, 1000);
  Kokkos::View<float*, Kokkos::HostSpace> y("y", 3);
  Kokkos::deep_copy(x, 2.0f);
  invar::sum(exec, y, x);
  exec.fence();
  std::printf("Invar %d: sums %g %g %g\n", INVAR_VERSION, y(0), y(1), y(2));
  if (y(0) != 2000.0f || y(1) != 2000.0f || y(2) != 2000.0f) return 1;

  // Unfused, the rounded square cancels; the build asks for contraction, and only Invar::StrictFP forbids it.
  const volatile float a = 1.0f + 0x1p-12f, b = -(1.0f + 0x1p-11f);
  const float square = a, sum = b;
  const float difference = square * square + sum;
  std::printf("a * a + b = %g, 0 where it is not contracted\n", difference);
  return difference == 0.0f ? 0 : 1;
}
