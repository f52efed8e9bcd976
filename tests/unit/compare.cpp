// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <doctest/doctest.h>

#include <invar/num/arithmetic.hpp>
#include <invar/verify/compare.hpp>
#include <invar/verify/random.hpp>

#include <cstdint>
#include <string>

using namespace invar;
using verify::compare;

namespace {

template <class T>
Kokkos::View<T**, Kokkos::HostSpace> random_matrix(int rows, int columns) {
  Kokkos::View<T**, Kokkos::HostSpace> v("v", rows, columns);
  verify::fill_random(v, 1);
  return v;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("equal views compare equal, whatever their layout") {
  const auto a = random_matrix<float>(5, 7);
  Kokkos::View<float**, Kokkos::LayoutLeft, Kokkos::HostSpace> b("b", 5, 7);
  verify::fill_random(b, 1);
  const auto result = compare(a, b);
  CHECK(static_cast<bool>(result));
  CHECK(result.elements == 35);
  CHECK(result.message == "equal");
}

TEST_CASE("the message names the first differing element, both values and both bit patterns") {
  const auto a = random_matrix<float>(5, 7), b = random_matrix<float>(5, 7);
  a(2, 3) = 1.5f;
  b(2, 3) = num::from_bits<float>(num::to_bits(1.5f) + 1);
  b(4, 6) = 7;
  const auto result = compare(a, b);
  CHECK_FALSE(static_cast<bool>(result));
  CHECK(result.differing == 2);
  CHECK(contains(result.message, "2 of 35 elements differ"));
  CHECK(contains(result.message, "first at (2, 3)"));
  CHECK(contains(result.message, "expected 1.5 (0x3fc00000)"));
  CHECK(contains(result.message, "found 1.5000001192092896 (0x3fc00001)"));
}

TEST_CASE("zeros of different sign differ, and so do NaNs of different bits") {
  const auto a = random_matrix<double>(1, 2), b = random_matrix<double>(1, 2);
  a(0, 0) = 0.0;
  b(0, 0) = -0.0;
  CHECK(compare(a, b).differing == 1);
  CHECK(contains(compare(a, b).message, "found -0 (0x8000000000000000)"));
  a(0, 0) = b(0, 0) = num::canonical_nan<double>();
  CHECK(compare(a, b).differing == 0);
  b(0, 0) = num::from_bits<double>(std::uint64_t{0xfff8000000000000u});
  CHECK(compare(a, b).differing == 1);
}

TEST_CASE_TEMPLATE("other element types", T, bfloat16_t, float16_t) {
  const auto a = random_matrix<T>(2, 2), b = random_matrix<T>(2, 2);
  CHECK(static_cast<bool>(compare(a, b)));
  a(0, 1) = T(1.0f);
  b(0, 1) = T(-2.0f);
  CHECK(contains(compare(a, b).message, "first at (0, 1): expected 1 (0x"));
  CHECK(contains(compare(a, b).message, "found -2 (0xc0"));
}

TEST_CASE("indices and traces") {
  Kokkos::View<std::int64_t*, Kokkos::HostSpace> a("a", 3), b("b", 3);
  b(2) = -1;
  CHECK(
      contains(compare(a, b).message, "first at (2): expected 0 (0x0000000000000000), found -1 (0xffffffffffffffff)"));
  const auto c = random_matrix<verify::Trace>(2, 2), d = random_matrix<verify::Trace>(2, 2);
  CHECK(static_cast<bool>(compare(c, d)));
  d(1, 1) = num::add(d(1, 1), d(0, 0));
  CHECK(compare(c, d).differing == 1);
}

TEST_CASE("extents and empty views") {
  const auto result = compare(random_matrix<float>(2, 3), random_matrix<float>(2, 4));
  CHECK_FALSE(static_cast<bool>(result));
  CHECK(contains(result.message, "extent 1 differs: expected 3, found 4"));
  CHECK(static_cast<bool>(compare(random_matrix<float>(0, 3), random_matrix<float>(0, 3))));
  Kokkos::View<float, Kokkos::HostSpace> scalar("scalar");
  CHECK(compare(scalar, scalar).elements == 1);
}
