// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <doctest/doctest.h>

#include <invar/num/arithmetic.hpp>
#include <invar/verify/random.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

using namespace invar;

namespace {

template <class T>
bool same(T a, T b) {
  return num::to_bits(a) == num::to_bits(b);
}

/// Every kind of value: zeros, subnormals, ordinary numbers, infinities, NaN of several bits.
template <class T>
std::vector<T> kinds() {
  using L = std::numeric_limits<T>;
  std::vector<T> list{0,
                      L::denorm_min(),
                      L::min() / 3,
                      L::min(),
                      T(0.1),
                      1,
                      T(1) + L::epsilon(),
                      3,
                      T(1e10),
                      L::max(),
                      L::infinity(),
                      L::quiet_NaN(),
                      num::canonical_nan<T>()};
  for (std::size_t i = 0, n = list.size(); i < n; ++i) list.push_back(-list[i]);
  return list;
}

}  // namespace

TEST_CASE_TEMPLATE("max and min keep their stated rules", T, float, double) {
  for (const T a : kinds<T>())
    for (const T b : kinds<T>()) {
      INFO(a, " and ", b);
      CHECK(same(num::max(a, b), num::max(b, a)));
      CHECK(same(num::min(a, b), num::min(b, a)));
      if (a != a || b != b) {
        CHECK(same(num::max(a, b), num::canonical_nan<T>()));
        CHECK(same(num::min(a, b), num::canonical_nan<T>()));
      } else if (a != b) {
        CHECK(same(num::max(a, b), a > b ? a : b));
        CHECK(same(num::min(a, b), a < b ? a : b));
      }
      for (const T c : kinds<T>()) {
        CHECK(same(num::max(a, num::max(b, c)), num::max(num::max(a, b), c)));
        CHECK(same(num::min(a, num::min(b, c)), num::min(num::min(a, b), c)));
      }
    }
  CHECK(same(num::max(T(0), T(-0.0)), T(0)));
  CHECK(same(num::max(T(-0.0), T(0)), T(0)));
  CHECK(same(num::min(T(0), T(-0.0)), T(-0.0)));
  CHECK(same(num::min(T(-0.0), T(0)), T(-0.0)));
  CHECK(same(num::max(T(-0.0), T(-0.0)), T(-0.0)));
}

TEST_CASE_TEMPLATE("is_greater puts NaN above every number, and nothing above itself", T, float, double) {
  for (const T a : kinds<T>())
    for (const T b : kinds<T>()) {
      const bool expected = a != a ? b == b : a > b;
      CHECK(num::is_greater(a, b) == expected);
    }
}

TEST_CASE_TEMPLATE("finite_or_zero and reciprocal_or_zero", T, float, double) {
  for (const T a : kinds<T>()) {
    if (a != a)
      CHECK(num::finite_or_zero(a) != num::finite_or_zero(a));
    else
      CHECK(same(num::finite_or_zero(a), std::isinf(a) ? T(0) : a));
    if (a == 0) CHECK(same(num::reciprocal_or_zero(a), T(0)));
    if (a != 0 && a == a) CHECK(same(num::reciprocal_or_zero(a), T(1) / a));
  }
}

TEST_CASE("fma rounds once") {
  // (1 + e)² = 1 + 2e + e² in one rounding: the e² survives the subtraction of 1 + 2e.
  const float e = 0x1p-23f, x = 1 + e;
  CHECK(num::fma(x, x, -(1 + 2 * e)) == 0x1p-46f);
  const double f = 0x1p-52, y = 1 + f;
  CHECK(num::fma(y, y, -(1 + 2 * f)) == 0x1p-104);
  // Below the smallest normal number, where a product in two roundings loses bits.
  CHECK(num::fma(0x1p-100f, 0x1p-49f, 0x1p-149f) == 0x1p-148f);
}

TEST_CASE("a product that feeds an addition is rounded first, whatever -ffp-contract says") {
  int fused = 0;
  for (int i = 0; i < 20000; ++i) {
    const float a = verify::random_value<float>(1, i), b = verify::random_value<float>(2, i);
    const float c = verify::random_value<float>(3, i);
    // The product of two floats is exact in double, so this is the product rounded once, then the sum rounded once.
    const float product = static_cast<float>(static_cast<double>(a) * static_cast<double>(b));
    const float expected = static_cast<float>(static_cast<double>(product) + static_cast<double>(c));
    CHECK(same(num::add(num::mul(a, b), c), expected));
    CHECK(same(num::sub(c, num::mul(a, b)), static_cast<float>(static_cast<double>(c) - static_cast<double>(product))));
    fused += !same(num::fma(a, b, c), expected);
  }
  CHECK(fused > 1000);  // the data would show a fused operation
}

TEST_CASE("division and square root are correctly rounded, subnormals included") {
  for (int i = 0; i < 20000; ++i) {
    const float a = verify::random_value<float>(4, i), b = verify::random_value<float>(5, i);
    // A float quotient or root rounded through double is rounded correctly (Figueroa, 1995).
    CHECK(same(num::div(a, b), static_cast<float>(static_cast<double>(a) / static_cast<double>(b))));
    CHECK(same(num::sqrt(std::fabs(a)), static_cast<float>(std::sqrt(static_cast<double>(std::fabs(a))))));
    CHECK(same(num::rsqrt(std::fabs(a)), num::div(1.0f, num::sqrt(std::fabs(a)))));
  }
  CHECK(same(num::div(0x1p-126f, 2.0f), 0x1p-127f));
  CHECK(same(num::sqrt(0x1p-148f), 0x1p-74f));
  CHECK(same(num::sqrt(-0.0f), -0.0f));
  CHECK(num::sqrt(-1.0f) != num::sqrt(-1.0f));
}
