// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/refusal.hpp"
#include "support/row_law.hpp"

#include <invar/op/embedding.hpp>
#include <invar/reference/embedding.hpp>
#include <invar/verify/trace.hpp>

#include <limits>

using namespace invar;
using namespace invar::test;

namespace {

using Ids = Kokkos::View<std::int32_t*, Memory>;
constexpr std::int64_t entries = 97;

/// Ids inside the table in a random order.
Ids random_ids(std::int64_t n) {
  Ids ids("ids", n);
  for (std::int64_t i = 0; i < n; ++i) ids(i) = static_cast<std::int32_t>(verify::random_bits(3, i) % entries);
  return ids;
}

std::vector<const schedule::Elementwise*> all_schedules() {
  std::vector<const schedule::Elementwise*> list{nullptr};
  for (const auto& schedule : schedule::elementwise_table<Execution>) list.push_back(&schedule);
  return list;
}

template <class T, class R, class Table>
void check_embedding(const Table& table, const Ids& ids) {
  const auto columns = static_cast<std::int64_t>(table.extent(1));
  const Matrix<R> expected("expected", ids.extent(0), columns);
  reference::embedding(expected, table, ids);
  for (const Execution& exec : executions())
    for (const auto* schedule : all_schedules()) {
      const Framed<R> y(ids.extent(0), columns, 1, 2);
      embedding(exec, y.view(), table, ids, schedule);
      INFO(describe(exec, schedule), ", ", ids.extent(0), " rows of ", columns);
      CHECK_BITS(expected, y.view());
      CHECK(y.is_intact());
    }
}

}  // namespace

TEST_CASE_TEMPLATE("embedding: every batch size, schedule and instance", T, float, double, bfloat16_t, float16_t,
                   verify::Trace) {
  for (const std::int64_t columns : {0, 1, 65, 300})
    for (const std::int64_t rows : batch_sizes())
      check_embedding<T, T>(shared_matrix<T>(entries, columns, 1), random_ids(rows));
  check_embedding<T, T>(shared_matrix<T>(entries, 65, 1), Ids("ids", 0));
}

TEST_CASE("embedding: other types and layouts") {
  const auto ids = random_ids(40);
  check_embedding<bfloat16_t, float>(shared_matrix<bfloat16_t>(entries, 65, 1), ids);
  check_embedding<float, float16_t>(shared_matrix<float>(entries, 65, 1), ids);
  const Kokkos::View<float**, Kokkos::LayoutLeft, Memory> left("left", entries, 65);
  verify::fill_random(left, 2);
  check_embedding<float, float>(left, ids);
  const Framed<float> padded(entries, 65, 3, 1);
  verify::fill_random(padded.view(), 2);
  check_embedding<float, float>(padded.view(), ids);
  const Matrix<float> expected("expected", 40, 65);
  const Kokkos::View<float**, Kokkos::LayoutLeft, Memory> y("y", 40, 65);
  reference::embedding(expected, left, ids);
  embedding(executions().back(), y, left, ids);
  CHECK_BITS(expected, y);
}

TEST_CASE_TEMPLATE("embedding: an id outside the table gives NaN and reads nothing", T, float, double, bfloat16_t,
                   float16_t) {
  const std::int64_t ids_values[] = {-1, entries, 3, std::numeric_limits<std::int64_t>::max(),
                                     std::numeric_limits<std::int64_t>::min()};
  Kokkos::View<std::int64_t*, Memory> ids("ids", 5);
  for (int i = 0; i < 5; ++i) ids(i) = ids_values[i];
  const auto table = shared_matrix<T>(entries, 65, 1);
  const Matrix<T> expected("expected", 5, 65), y("y", 5, 65);
  fill(expected, num::narrow<T>(num::canonical_nan<float>()));
  for (int j = 0; j < 65; ++j) expected(2, j) = table(3, j);
  embedding(executions().back(), y, table, ids);
  CHECK_BITS(expected, y);
}

TEST_CASE("embedding: a wrong row is noticed") {
  auto ids = random_ids(40);
  const auto table = shared_matrix<float>(entries, 65, 1);
  const Matrix<float> right("right", 40, 65), wrong("wrong", 40, 65);
  embedding(executions().back(), right, table, ids);
  Kokkos::fence();
  ids(17) = (ids(17) + 1) % entries;
  reference::embedding(wrong, table, ids);
  CHECK_BITS_DIFFER(wrong, right);
}

TEST_CASE("embedding: refusals") {
  const Execution exec;
  const Matrix<float> table("table", 20, 10), y("y", 4, 10), fewer("fewer", 3, 10), wider("wider", 4, 11);
  const Ids ids("ids", 4);
  check_refused(fewer, "y extent 0: expected 4, found 3", [&] { embedding(exec, fewer, table, ids); });
  check_refused(wider, "y extent 1: expected 10, found 11", [&] { embedding(exec, wider, table, ids); });
  check_refused(table, "y: expected memory apart from table",
                [&] { embedding(exec, rows_of(table, 3, 7), table, ids); });
  const Kokkos::View<std::int32_t*, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>> inside(
      reinterpret_cast<std::int32_t*>(y.data()), 4);
  check_refused(y, "y: expected memory apart from ids", [&] { embedding(exec, y, table, inside); });
}
