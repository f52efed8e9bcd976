// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The name of what computes the ledger, and the lines that head a device's own file.
#ifndef INVAR_TESTS_LEDGER_DEVICE_HPP
#define INVAR_TESTS_LEDGER_DEVICE_HPP

#include "support/environment.hpp"

#include <Kokkos_Core.hpp>
#include <ctime>
#include <fstream>
#include <string>

namespace invar::test {

#ifdef KOKKOS_ENABLE_CUDA

inline std::string device_name() { return Execution().cuda_device_prop().name; }

inline std::string device_versions() {
  const auto version = [](int v) { return std::to_string(v / 1000) + "." + std::to_string(v % 1000 / 10); };
  const cudaDeviceProp& properties = Execution().cuda_device_prop();
  int driver = 0;
  (void)cudaDriverGetVersion(&driver);
  std::string text = "compute capability " + std::to_string(properties.major) + "." + std::to_string(properties.minor) +
                     ", CUDA " + version(CUDART_VERSION) + ", driver for CUDA " + version(driver);
  std::string module;
  if (std::ifstream file("/proc/driver/nvidia/version"); std::getline(file, module)) text += " (" + module + ")";
  return text;
}

#else

inline std::string device_name() { return "host, " + std::to_string(Execution().concurrency()) + " threads"; }

inline std::string device_versions() { return Execution::name(); }

#endif

/// The comment that heads a device's own file.
inline std::string device_header() {
  char date[16];
  const std::time_t now = std::time(nullptr);
  std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
  return "# The digests that one device computed, line by line as in digests.txt. Every build compares them with "
         "digests.txt\n# and with its own. Written by: ledger digests.txt --record FILE\n# device: " +
         device_name() + "\n# " + device_versions() + ", Kokkos " + std::to_string(KOKKOS_VERSION / 10000) + "." +
         std::to_string(KOKKOS_VERSION / 100 % 100) + "." + std::to_string(KOKKOS_VERSION % 100) + "\n# " + date +
         "\n# operation contract type shape seed digest\n";
}

}  // namespace invar::test

#endif
