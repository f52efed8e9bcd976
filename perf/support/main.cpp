// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The main function of every benchmark program: Kokkos around Google Benchmark, and in the output's context all that a
// reader needs to judge the figures: Invar's version, compiler and flags, and Kokkos' whole configuration.
#include <invar/version.hpp>

#include <benchmark/benchmark.h>
#include <Kokkos_Core.hpp>

#include <sstream>
#include <string>

namespace {

// Kokkos prints its configuration as indented lines of "key: value" below headings.
void add_kokkos_context() {
  std::ostringstream text;
  Kokkos::print_configuration(text, true);
  std::istringstream lines(text.str());
  for (std::string line; std::getline(lines, line);) {
    const auto key = line.find_first_not_of(" \t");
    const auto colon = line.find(": ");
    if (key == std::string::npos || colon == std::string::npos) continue;
    const std::string name = line.substr(key, colon - key);
    const bool says_kokkos = name.starts_with("Kokkos") || name.starts_with("KOKKOS");
    benchmark::AddCustomContext(says_kokkos ? name : "Kokkos " + name, line.substr(colon + 2));
  }
}

}  // namespace

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::AddCustomContext("Invar version", std::to_string(INVAR_VERSION_MAJOR) + "." +
                                                   std::to_string(INVAR_VERSION_MINOR) + "." +
                                                   std::to_string(INVAR_VERSION_PATCH));
  benchmark::AddCustomContext("compiler", INVAR_PERF_COMPILER);
  benchmark::AddCustomContext("compiler flags", INVAR_PERF_FLAGS);
  benchmark::AddCustomContext("execution space", Kokkos::DefaultExecutionSpace::name());
  benchmark::AddCustomContext("threads", std::to_string(Kokkos::DefaultExecutionSpace().concurrency()));
  add_kokkos_context();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
