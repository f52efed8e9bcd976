// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// A normalised linear layer on 64 rows, and on one of them alone: the README's example.

#include <cstdio>
#include <invar/invar.hpp>

int main() {
  Kokkos::ScopeGuard kokkos;
  Kokkos::DefaultExecutionSpace exec;
  Kokkos::View<float**> x("x", 64, 4096), w("w", 1024, 4096), y("y", 64, 1024), y5("y5", 1, 1024);
  Kokkos::View<float*> gain("gain", 4096);
  invar::verify::fill_random(x, 1), invar::verify::fill_random(w, 2), invar::verify::fill_random(gain, 3);
  invar::rms_norm(exec, x, x, gain, 1e-6f);
  invar::matmul(exec, y, x, invar::transposed(w));                                                  // all 64 rows
  invar::matmul(exec, y5, Kokkos::subview(x, std::pair(5, 6), Kokkos::ALL), invar::transposed(w));  // row 5 alone
  const auto result = invar::verify::compare(Kokkos::subview(y, std::pair(5, 6), Kokkos::ALL), y5);
  std::printf("row 5 in the batch and alone: %s, digest of the batch %s\n", result.message.c_str(),
              invar::verify::to_hex(invar::verify::digest(y)).c_str());
  return result ? 0 : 1;
}
