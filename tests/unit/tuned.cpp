// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tables of tuned schedules: what they find, what they refuse, and that no schedule they hand out changes a bit.
#include <invar/op/matmul.hpp>
#include <invar/schedule/tuned.hpp>
#include <invar/verify/digest.hpp>
#include <invar/verify/random.hpp>

#include <doctest/doctest.h>
#include <Kokkos_Core.hpp>

#include <array>
#include <cstdint>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

using Exec = Kokkos::DefaultExecutionSpace;
using invar::schedule::Tuned;
using invar::schedule::TunedShape;

constexpr std::array<invar::schedule::Matmul, 3> table{{{"a", 1, 1, 1}, {"b, wider", 1, 2, 1}, {"c", 2, 2, 2}}};
constexpr TunedShape shapes[] = {
    {64, 16, 32, "c"}, {1, 16, 32, "a"}, {8, 16, 32, "b, wider"}, {8, 24, 32, "a"}, {8, 16, 40, "c"}};

TEST_CASE("find: (n, k) as measured, and the next number of rows that was") {
  const Tuned tuned(table, shapes);
  CHECK(tuned.size() == 5);
  CHECK(tuned.find(1, 16, 32) == &table[0]);
  CHECK(tuned.find(2, 16, 32) == &table[1]);
  CHECK(tuned.find(8, 16, 32) == &table[1]);
  CHECK(tuned.find(9, 16, 32) == &table[2]);
  CHECK(tuned.find(64, 16, 32) == &table[2]);
  CHECK(tuned.find(65, 16, 32) == nullptr);  // more rows than were measured: the library's choice
  CHECK(tuned.find(8, 24, 32) == &table[0]);
  CHECK(tuned.find(8, 16, 40) == &table[2]);
  CHECK(tuned.find(8, 16, 33) == nullptr);
  CHECK(tuned.find(8, 17, 32) == nullptr);
  CHECK(tuned.find(8, 32, 16) == nullptr);
  CHECK(Tuned().find(1, 1, 1) == nullptr);
}

TEST_CASE("of two entries for a shape the later counts") {
  const std::vector<TunedShape> twice{{1, 2, 3, "a"}, {4, 2, 3, "a"}, {1, 2, 3, "c"}};
  const Tuned tuned(table, twice);
  CHECK(tuned.size() == 2);
  CHECK(tuned.find(1, 2, 3) == &table[2]);
  CHECK(tuned.find(2, 2, 3) == &table[0]);
}

TEST_CASE("a schedule that the table does not have is refused by name") {
  const std::vector<TunedShape> unknown{{1, 2, 3, "d"}};
  CHECK_THROWS_WITH_AS(Tuned(table, unknown), doctest::Contains("found d"), invar::error);
}

TEST_CASE("the same from a file") {
  std::istringstream file("# device, contract\n\n64 16 32 c\n1 16 32 a\r\n8 16 32 b, wider\n");
  const Tuned tuned = Tuned::read(table, file);
  CHECK(tuned.size() == 3);
  CHECK(tuned.find(1, 16, 32) == &table[0]);
  CHECK(tuned.find(7, 16, 32) == &table[1]);
  CHECK(tuned.find(33, 16, 32) == &table[2]);
}

TEST_CASE("a line that is none is refused by its number") {
  for (const std::string line :
       {"1 2 3", "1 2 3 ", "1 2 a", "1  2 3 a", " 1 2 3 a", "1 2 -3 a", "0 2 3 a", "x", "1 2 99999999999999999999 a"}) {
    CAPTURE(line);
    std::istringstream file("# first\n" + line + "\n");
    CHECK_THROWS_WITH_AS(Tuned::read(table, file), doctest::Contains("line 2"), invar::error);
  }
  std::istringstream file("1 2 3 d\n");
  CHECK_THROWS_AS(Tuned::read(table, file), invar::error);
}

/// Digests of a product by the library's choice and by every schedule, each through a table for the shape.
template <class Contract, class T, class Table>
void check_bits(const Table& schedules, std::int64_t m, std::int64_t n, std::int64_t k) {
  const Exec exec;
  const Kokkos::View<T**, Kokkos::LayoutRight, Exec> a("a", m, k), b("b", n, k), c("c", m, n);
  invar::verify::fill_random(a, 1);
  invar::verify::fill_random(b, 2);
  invar::matmul<Contract>(exec, c, a, invar::transposed(b), Tuned().find(m, n, k));
  const std::uint64_t expected = invar::verify::digest(c);
  for (const auto& schedule : schedules) {
    CAPTURE(schedule.name);
    const std::array<TunedShape, 1> fastest{{{m, n, k, schedule.name}}};
    const Tuned tuned(schedules, fastest);
    REQUIRE(tuned.find(m, n, k) == &schedule);
    Kokkos::deep_copy(c, T(0));
    invar::matmul<Contract>(exec, c, a, invar::transposed(b), tuned.find(m, n, k));
    CHECK(invar::verify::digest(c) == expected);
  }
}

template <class Table>
void check_names(const Table& schedules) {
  std::set<std::string> names;
  for (const auto& schedule : schedules) {
    CAPTURE(schedule.name);
    CHECK(names.insert(schedule.name).second);
    CHECK(std::string(schedule.name).find_first_of("\"\\\n\r") == std::string::npos);
  }
}

TEST_CASE("a name means one schedule, and fits into a file") {
  check_names(invar::schedule::matmul_table<Exec>);
  check_names(invar::schedule::matrix_unit_matmul_table<Exec>);
}

TEST_CASE("every schedule that a table can name gives the bits of the library's choice") {
  for (const std::int64_t m : {1, 5, 40}) {
    check_bits<invar::contract::DefaultMatmul, float>(invar::schedule::matmul_table<Exec>, m, 72, 600);
    check_bits<invar::contract::Matmul<invar::hopper_16bit, 64>, invar::bfloat16_t>(
        invar::schedule::matrix_unit_matmul_table<Exec>, m, 72, 192);
  }
}

}  // namespace
