// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The main function of every doctest program: Kokkos lives exactly as long as the tests run.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <Kokkos_Core.hpp>

#include <cstring>
#include <iostream>

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  // --kokkos-configuration: which Kokkos, backend and number of threads these results belong to.
  for (int i = 1; i < argc; ++i)
    if (std::strcmp(argv[i], "--kokkos-configuration") == 0) Kokkos::print_configuration(std::cout, true);
  doctest::Context context(argc, argv);
  return context.run();
}
