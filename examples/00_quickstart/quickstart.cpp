// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// A linear layer on 64 rows, and on one of them alone: the README's example.

#include <invar/invar.hpp>

int main() {
  Kokkos::ScopeGuard kokkos;
  Kokkos::DefaultExecutionSpace exec;
  Kokkos::View<float**> x("x", 64, 4096), w("w", 1024, 4096), all("all", 64, 1024), one("one", 1, 1024);
  invar::verify::fill_random(x, 1);
  invar::verify::fill_random(w, 2);
  const auto row5 = [](const auto& rows) { return Kokkos::subview(rows, std::pair(5, 6), Kokkos::ALL); };
  invar::matmul(exec, all, x, invar::transposed(w));        // 64 rows
  invar::matmul(exec, one, row5(x), invar::transposed(w));  // row 5 alone: another schedule, the same bits
  const auto result = invar::verify::compare(row5(all), one);
  std::printf("row 5 of the batch and alone: %s\n", result.message.c_str());
  return result ? 0 : 1;
}
