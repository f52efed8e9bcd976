// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Built with -ffast-math and the macro that admits it: the self-check has to fail, and loudly.
#include <invar/verify/self_check.hpp>

#include <cstdio>
#include <exception>

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  try {
    invar::self_check(Kokkos::DefaultExecutionSpace()).require();
  } catch (const std::exception& failure) {
    std::fputs(failure.what(), stdout);
    return 1;
  }
  std::puts("the self-check passed under -ffast-math");
  return 0;
}
