// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <doctest/doctest.h>

#include <invar/num/types.hpp>
#include <invar/verify/random.hpp>

#include <cmath>
#include <cstdint>
#include <type_traits>

using namespace invar;

namespace {

/// A 16-bit format, described for the slow conversions below.
template <class T>
struct Format;
template <>
struct Format<bfloat16_t> {
  static constexpr int fraction = 7, bias = 127;
};
template <>
struct Format<float16_t> {
  static constexpr int fraction = 10, bias = 15;
};

/// The value of the magnitude bits m, a finite number, by the definition of the format.
template <class T>
double value_of(int m) {
  using F = Format<T>;
  const int exponent = m >> F::fraction, fraction = m & ((1 << F::fraction) - 1);
  return exponent == 0 ? std::ldexp(fraction, 1 - F::bias - F::fraction)
                       : std::ldexp(fraction + (1 << F::fraction), exponent - F::bias - F::fraction);
}

template <class T>
constexpr int infinity_bits() {
  return std::is_same_v<T, bfloat16_t> ? 0x7f80 : 0x7c00;
}

/// The magnitude bits nearest to |x|, ties to even, found by bisection over the finite values.
template <class T>
int nearest(double x) {
  const int infinite = infinity_bits<T>();
  int low = 0, high = infinite;  // value(low) <= x < value(high)
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (value_of<T>(middle) <= x ? low : high) = middle;
  }
  // Infinity stands where the next finite value would.
  const double below = x - value_of<T>(low), above = value_of<T>(low + 1) - x;
  return below < above || (below == above && low % 2 == 0) ? low : low + 1;
}

float next(float x, int steps) { return num::from_bits<float>(num::to_bits(x) + static_cast<std::uint32_t>(steps)); }

template <class T>
void check_narrow(float x) {
  const int expected = nearest<T>(std::fabs(static_cast<double>(x)));
  const int sign = num::is_negative(x) ? 0x8000 : 0;
  if (T(x).bits != (sign | expected)) {
    INFO(x, " to ", T(x).bits, ", expected ", sign | expected);
    CHECK(false);
  }
}

}  // namespace

TEST_CASE_TEMPLATE("all 65536 values widen exactly and come back", T, bfloat16_t, float16_t) {
  int wrong = 0;
  for (int bits = 0; bits < 65536; ++bits) {
    const T x = T::from_bits(static_cast<std::uint16_t>(bits));
    const float wide = static_cast<float>(x);
    const int magnitude = bits & 0x7fff;
    if (magnitude > infinity_bits<T>()) {
      wrong += wide == wide;
      wrong += T(wide).bits != (std::is_same_v<T, bfloat16_t> ? 0x7fc0 : 0x7e00);
    } else {
      const double exact = magnitude == infinity_bits<T>() ? HUGE_VAL : value_of<T>(magnitude);
      wrong += num::to_bits(wide) != num::to_bits(static_cast<float>(bits >> 15 ? -exact : exact));
      wrong += T(wide).bits != bits;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE_TEMPLATE("narrowing rounds to nearest, ties to even, at and beside every midpoint", T, bfloat16_t,
                   float16_t) {
  for (int m = 0; m < infinity_bits<T>(); ++m) {
    const double here = value_of<T>(m), there = value_of<T>(m + 1);
    const float midpoint = static_cast<float>((here + there) / 2);
    // Exact in float, but for bfloat16's smallest values and its last midpoint.
    if (static_cast<double>(midpoint) != (here + there) / 2) continue;
    for (int step = -1; step <= 1; ++step) {
      if (midpoint == 0 && step < 0) continue;
      check_narrow<T>(next(midpoint, step));
      check_narrow<T>(-next(midpoint, step));
    }
    const float value = static_cast<float>(here);
    if (value != 0) check_narrow<T>(next(value, -1));
    check_narrow<T>(next(value, 1));
  }
}

TEST_CASE_TEMPLATE("narrowing of random bits", T, bfloat16_t, float16_t) {
  for (std::uint64_t i = 0; i < 300000; ++i) {
    const float x = num::from_bits<float>(static_cast<std::uint32_t>(verify::random_bits(9, i)));
    if (x - x == 0) check_narrow<T>(x);
  }
}

TEST_CASE("overflow, infinities, NaN, and the smallest values") {
  CHECK(float16_t(65504.0f).bits == 0x7bff);
  CHECK(float16_t(next(65520.0f, -1)).bits == 0x7bff);
  CHECK(float16_t(65520.0f).bits == 0x7c00);
  CHECK(float16_t(-1e30f).bits == 0xfc00);
  CHECK(float16_t(HUGE_VALF).bits == 0x7c00);
  CHECK(float16_t(-HUGE_VALF).bits == 0xfc00);
  CHECK(float16_t(0x1p-24f).bits == 1);
  CHECK(float16_t(0x1p-25f).bits == 0);
  CHECK(float16_t(next(0x1p-25f, 1)).bits == 1);
  CHECK(float16_t(-0x1p-149f).bits == 0x8000);
  CHECK(bfloat16_t(0x1.fep127f).bits == 0x7f7f);
  CHECK(bfloat16_t(0x1.fefffep127f).bits == 0x7f7f);
  CHECK(bfloat16_t(0x1.ffp127f).bits == 0x7f80);
  CHECK(bfloat16_t(-HUGE_VALF).bits == 0xff80);
  CHECK(bfloat16_t(0x1p-133f).bits == 1);
  CHECK(bfloat16_t(0x1p-134f).bits == 0);
  CHECK(bfloat16_t(0x1p-134f * 1.5f).bits == 1);
  for (const std::uint32_t nan : {0x7f800001u, 0x7fffffffu, 0xff800001u, 0xffc00000u}) {
    CHECK(bfloat16_t(num::from_bits<float>(nan)).bits == 0x7fc0);
    CHECK(float16_t(num::from_bits<float>(nan)).bits == 0x7e00);
  }
}

// The compiler's own type where it has one; the macro says so.
// g++ 12 for AArch64 defines the macro without having the type in C++.
#if defined(__FLT16_MANT_DIG__) && (defined(__clang__) || defined(__x86_64__) || __GNUC__ >= 13)
TEST_CASE("float16_t agrees with the compiler's _Float16") {
  int wrong = 0;
  for (int bits = 0; bits < 65536; ++bits) {
    const auto narrow_bits = static_cast<std::uint16_t>(bits);
    const float theirs = static_cast<float>(__builtin_bit_cast(_Float16, narrow_bits));
    const float ours = static_cast<float>(float16_t::from_bits(narrow_bits));
    wrong += ours != ours ? theirs == theirs : num::to_bits(ours) != num::to_bits(theirs);
  }
  for (std::uint64_t i = 0; i < 300000; ++i) {
    const float x = num::from_bits<float>(static_cast<std::uint32_t>(verify::random_bits(10, i)));
    if (x == x) wrong += float16_t(x).bits != __builtin_bit_cast(std::uint16_t, static_cast<_Float16>(x));
  }
  CHECK(wrong == 0);
}
#endif

TEST_CASE("accumulators, widen and narrow") {
  static_assert(std::is_same_v<num::accumulator_t<const bfloat16_t>, float>);
  static_assert(std::is_same_v<num::accumulator_t<float16_t>, float>);
  static_assert(std::is_same_v<num::accumulator_t<double>, double>);
  CHECK(num::widen(bfloat16_t(1.5f)) == 1.5f);
  CHECK(num::narrow<float>(1.0 + 0x1p-30) == 1.0f);
  CHECK(num::narrow<bfloat16_t>(1.00390625f).bits == 0x3f80);  // a tie, to even
  const float nan = num::from_bits<float>(std::uint32_t{0xffc12345u});
  CHECK(num::to_bits(num::narrow<float>(nan)) == 0x7fc00000u);
  CHECK(num::to_bits(num::narrow<double>(nan)) == 0x7ff8000000000000u);
  CHECK(num::narrow<float16_t>(nan).bits == 0x7e00);
  CHECK(num::narrow<std::int32_t>(std::int64_t{7}) == 7);
}
