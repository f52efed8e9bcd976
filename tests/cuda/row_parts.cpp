// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows worked on in parts: more of them than the device takes in one turn, so that places and flags are used again.
#include "support/check_bits.hpp"
#include "support/environment.hpp"

#include <invar/op/log_softmax.hpp>
#include <invar/op/softmax.hpp>
#include <invar/reference/log_softmax.hpp>
#include <invar/reference/softmax.hpp>
#include <invar/verify/random.hpp>

#include <cstdint>
#include <utility>

using namespace invar;
using namespace invar::test;

namespace {

const schedule::Rows& in_parts() {
  for (const schedule::Rows& entry : schedule::rows_table<Execution>)
    if (entry.holds_row && entry.teams_per_row == 1) return entry;
  FAIL("no schedule cuts rows into parts");
  return schedule::rows_table<Execution>[0];
}

/// \param turns  at least so many, for a device of which each multiprocessor holds up to three parts
template <class T, class Kernel, class Reference>
void check_turns(std::int64_t columns, std::int64_t parts, std::int64_t turns, const Kernel& kernel,
                 const Reference& reference) {
  using Matrix = Kokkos::View<T**, Kokkos::LayoutRight, Memory>;
  const int places = 3 * executions().back().cuda_device_prop().multiProcessorCount;
  const std::int64_t rows = places / parts * (turns - 1) + 5;  // the last turn is not full
  const Matrix x("x", rows, columns), expected("expected", rows, columns), y("y", rows, columns);
  verify::fill_random(x, 11);
  reference(expected, x);
  for (const Execution& exec : executions()) {
    Kokkos::deep_copy(y, T(0.0f));
    kernel(exec, y, x);
    exec.fence();
    INFO(describe(exec), ", ", rows, " rows, ", columns, " columns");
    CHECK_BITS(expected, y);
  }
  // In place, and the control: a row that got another turn's value, which a place used too early would do.
  kernel(executions().back(), x, x);
  executions().back().fence();
  CHECK_BITS(expected, x);
  const auto row = [&](std::int64_t r) { return Kokkos::subview(y, std::pair(r, r + 1), Kokkos::ALL); };
  Kokkos::deep_copy(row(rows - 1), row(0));
  CHECK_BITS_DIFFER(expected, y);
}

}  // namespace

TEST_CASE("log_softmax in parts, one a row, over five turns") {
  check_turns<float>(
      1100, 1, 5, [](const auto& exec, const auto& y, const auto& x) { log_softmax(exec, y, x, &in_parts()); },
      [](const auto& y, const auto& x) { reference::log_softmax(y, x); });
}

TEST_CASE("log_softmax in parts, three a row, over four turns") {
  check_turns<float>(
      16388, 3, 4, [](const auto& exec, const auto& y, const auto& x) { log_softmax(exec, y, x, &in_parts()); },
      [](const auto& y, const auto& x) { reference::log_softmax(y, x); });
}

TEST_CASE("softmax of bfloat16_t in parts, two a row, over four turns") {
  check_turns<bfloat16_t>(
      18000, 2, 4, [](const auto& exec, const auto& y, const auto& x) { softmax(exec, y, x, &in_parts()); },
      [](const auto& y, const auto& x) { reference::softmax(y, x); });
}
