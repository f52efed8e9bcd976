// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/matrix_schedules.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

using namespace invar;
using namespace invar::test;

TEST_CASE("matmul of bfloat16_t by Hopper's matrix unit: every batch size, every schedule") {
  check_matrix_unit_schedules<bfloat16_t, hopper_16bit>();
}

TEST_CASE("the choice among the schedules of matrix units") {
  using Schedules = schedule::MatrixUnitMatmulSchedules<Kokkos::Cuda>;
  using Family = schedule::MatrixKernel::Family;
  const auto& table = Schedules::table;
  const auto choose = [](std::int64_t m, std::int64_t n, std::int64_t k, bool along_k, int processors) {
    return &Schedules::choose(processors, {m, n, k, 2048, along_k, 2});
  };
  std::vector<bool> is_used(table.size());
  for (const int processors : {16, 78, 114, 132})
    for (const bool along_k : {false, true})
      for (const std::int64_t n : {8, 768, 1024, 2048, 4096, 6144, 24576, 151936})
        for (const std::int64_t k : {8, 2048, 4096, 7168, 12288})
          for (std::int64_t m = 1; m <= 8192; m += m < 300 ? 1 : m) {
            const schedule::Matmul* const chosen = choose(m, n, k, along_k, processors);
            REQUIRE(chosen >= table.data());
            REQUIRE(chosen < table.data() + table.size());
            // It depends on nothing but its arguments.
            REQUIRE(chosen == choose(m, n, k, along_k, processors));
            is_used[static_cast<std::size_t>(chosen - table.data())] = true;
          }
  // Few rows stream the weights, many fill the matrix unit, and what is general is left to what those two refuse.
  const auto family = [](const schedule::Matmul* chosen) { return schedule::MatrixKernel::of(*chosen).family; };
  CHECK(family(choose(1, 4096, 4096, true, 132)) == Family::small);
  CHECK(family(choose(64, 4096, 4096, true, 132)) == Family::small);
  CHECK(family(choose(8192, 4096, 4096, true, 132)) == Family::large);
  CHECK_FALSE(is_used[0]);
  CHECK(std::count(is_used.begin(), is_used.end(), true) > 10);
  // Every entry names its kernel, and no two the same.
  for (std::size_t i = 0; i < table.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) CHECK(table[i].kernel != table[j].kernel);
}
