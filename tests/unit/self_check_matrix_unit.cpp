// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <invar/verify/self_check_matrix_unit.hpp>

#include <doctest/doctest.h>

using namespace invar;

namespace {

using Exec = Kokkos::DefaultExecutionSpace;

template <class Unit, class A, class B = A>
void check() {
  const auto report = self_check_matrix_unit<Unit, A, B>(Exec());
  INFO(report.text());
  CHECK(report.passed());
  CHECK(report.items.size() == 4 * schedule::matrix_unit_matmul_table<Exec>.size());
  CHECK_NOTHROW(report.require());
}

}  // namespace

TEST_CASE("the kernels of a matrix unit have the model's bits here") {
  check<hopper_16bit, bfloat16_t>();
  check<hopper_tf32, float>();
  check<hopper_fp8, float8_e4m3_t, float8_e5m2_t>();
}

TEST_CASE("a report with a difference says so") {
  MatrixUnitCheckReport report{{{"8 x 64", "ordinary values", 100, 0}}, hopper_16bit::name(), "space"};
  CHECK(static_cast<bool>(report));
  report.items.push_back({"32 x 64", "ordinary values", 100, 3});
  CHECK_FALSE(static_cast<bool>(report));
  CHECK(report.text().find("FAILED 32 x 64, ordinary values: 3 of 100 outputs differ") != std::string::npos);
  CHECK_THROWS(report.require());
}

TEST_CASE("the comparison sees a single bit") {
  const Exec exec;
  const Kokkos::View<float**, Kokkos::LayoutRight, Exec::memory_space> x("x", 5, 7), y("y", 5, 7);
  CHECK(detail::differing_outputs(exec, x, y) == 0);
  Kokkos::deep_copy(exec, Kokkos::subview(y, 3, 2), 0x1p-149f);
  CHECK(detail::differing_outputs(exec, x, y) == 1);
}

TEST_CASE("the data reach what they are meant to reach") {
  int special = 0, large = 0, zero = 0;
  constexpr std::int64_t count = 400000;
  for (std::int64_t k = 0; k < count; ++k) {
    special += num::is_special_operand(detail::unit_check_element<bfloat16_t>(detail::UnitData::patterns, 2, 1, k));
    const auto x = static_cast<float>(detail::unit_check_element<bfloat16_t>(detail::UnitData::smallest, 2, 1, k));
    const auto y = static_cast<float>(detail::unit_check_element<float16_t>(detail::UnitData::smallest, 2, 1, k));
    large += x * x > 0x1p-126f || y > 0x1p-13f;
    zero += x == 0 || y == 0;
  }
  CHECK(special > 0);
  CHECK(special < count / 1000);
  CHECK(large == 0);
  CHECK(zero < count / 4);
}
