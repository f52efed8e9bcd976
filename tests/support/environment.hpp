// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the environment asks of the tests: how much they walk, and on how many threads.
#ifndef INVAR_TESTS_SUPPORT_ENVIRONMENT_HPP
#define INVAR_TESTS_SUPPORT_ENVIRONMENT_HPP

#include <Kokkos_Core.hpp>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace invar::test {

/// True with INVAR_TEST_SIZE=small: shorter lists, for unoptimised builds and emulators.
inline bool is_small() {
  const char* size = std::getenv("INVAR_TEST_SIZE");
  return size != nullptr && std::string(size) == "small";
}

/// The full list, or the short one where the environment asks for it.
template <class T>
std::vector<T> by_size(std::vector<T> full, std::vector<T> small) {
  return is_small() ? small : full;
}

using Execution = Kokkos::DefaultHostExecutionSpace;

/// Execution instances of 1, 2, 3 and 7 threads, as far as the process has them; says once which.
inline const std::vector<Execution>& executions() {
  static const std::vector<Execution> instances = [] {
    std::vector<Execution> list;
#ifdef KOKKOS_ENABLE_OPENMP
    const int most = Execution().concurrency();
    for (const int threads : {1, 2, 3, 7})
      if (threads <= most) list.emplace_back(Execution(threads));
#else
    list.emplace_back();
#endif
    std::printf("threads tested:");
    for (const Execution& exec : list) std::printf(" %d", exec.concurrency());
    std::printf("\n");
    // The instances must not outlive Kokkos.
    Kokkos::push_finalize_hook([] { const_cast<std::vector<Execution>&>(executions()).clear(); });
    return list;
  }();
  return instances;
}

}  // namespace invar::test

#endif
