// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/attention_law.hpp"

TEST_CASE("attention of float: the row law") { invar::test::check_attention_law<float>(); }

// Hosts number the splits of all sequences through, compute a window of 16 a thread, and fold them tile by tile. Here a
// long sequence ends just before the second window does, where a short one begins and goes on: one thread still folds
// into the total that the first window left, while another one leaves its own for the third.
TEST_CASE("attention of float: a sequence goes on beside one that ends") {
  using namespace invar::test;
  using Small = invar::contract::Attention<invar::ieee, 32, 64>;
  for (const Execution& exec : executions()) {
    const std::int64_t threads = std::min(3, static_cast<int>(exec.concurrency()));
    if (threads == 1) continue;
    const std::int64_t ends = (2 * 16 * threads - 1) * 64, goes_on = 3 * 64;
    const Sequence<float, Small> a(ends, {8, 1, 8, 8}, 140), b(goes_on, {8, 1, 8, 8}, 150);
    const Batch<float, Small> step({{&a, ends - 1, ends}, {&b, goes_on - 1, goes_on}});
    const auto kv = step.contiguous();
    for (int repeat = 0; repeat < (is_tiny() ? 1 : 20); ++repeat)
      for (const auto& schedule : invar::schedule::attention_table<Execution>) step.check(kv, exec, &schedule);
  }
}
