// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The software model of matrix units against the specification, and both against the formula as its sources write it:
// significands and exponents as doubles, frexp, ldexp and trunc.
#include "support/environment.hpp"

#include <doctest/doctest.h>

#include <invar/contract/matmul.hpp>
#include <invar/num/matrix_unit.hpp>
#include <invar/reference/matrix_unit.hpp>
#include <invar/tree/matrix_unit_block.hpp>
#include <invar/verify/random.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

using namespace invar;

namespace {

constexpr float inf = HUGE_VALF;
float nan() { return num::canonical_nan<float>(); }

/// The lowest and the highest exponent of a format's normal numbers.
template <class T>
constexpr int lowest_exponent = 1 - num::OperandFormat<T>::bias;
template <class T>
constexpr int highest_exponent = num::OperandFormat<T>::bias + (num::OperandFormat<T>::has_infinity ? 0 : 1);

/// A finite value as significand and exponent, 1 ≤ |significand| < 2, or below 1 at the lowest exponent.
struct Parts {
  double significand;
  int exponent;
};
Parts parts(double x, int lowest) {
  int exponent = 0;
  double significand = 2 * std::frexp(x, &exponent);
  exponent -= 1;
  if (x == 0 || exponent < lowest) {
    significand = std::ldexp(x, -lowest);
    exponent = lowest;
  }
  return {significand, exponent};
}

/// How the formula may be made wrong.
enum class Wrong {
  none,
  rounds_to_nearest,
  one_bit_less,
  one_bit_more,
  normalises_products,
  no_zero_exponent,
  keeps_sign_of_zero
};

/// The formula of arXiv 2511.10909 for one group, by values instead of bits, but for a rule that an H200 showed: a sum
/// of which the cut leaves nothing is +0. NaN is any NaN.
template <class Unit, Wrong wrong = Wrong::none, class T>
float formula(const std::vector<T>& a, const std::vector<T>& b, float acc) {
  double special = acc;
  std::vector<Parts> terms{parts(acc, -126)};
  for (std::size_t k = 0; k < a.size(); ++k) {
    double x = static_cast<float>(a[k]), y = static_cast<float>(b[k]);
    if constexpr (std::is_same_v<T, float>) {
      x = num::from_bits<float>(num::to_bits(a[k]) & 0xffffe000u);
      y = num::from_bits<float>(num::to_bits(b[k]) & 0xffffe000u);
    }
    special += x * y;
    const Parts p = parts(x, lowest_exponent<T>), q = parts(y, lowest_exponent<T>);
    terms.push_back({p.significand * q.significand, p.exponent + q.exponent});
    if constexpr (wrong == Wrong::normalises_products) terms.back() = parts(x * y, -1000);
  }
  if (!std::isfinite(special)) return static_cast<float>(special);
  const int bits = Unit::alignment_bits + (wrong == Wrong::one_bit_more) - (wrong == Wrong::one_bit_less);
  int largest = -10000;
  for (Parts& term : terms) {
    if (term.significand == 0) term.exponent = wrong == Wrong::no_zero_exponent ? -10000 : Unit::zero_exponent;
    largest = std::max(largest, term.exponent);
  }
  double sum = 0;
  for (const Parts& term : terms) sum += std::trunc(std::ldexp(term.significand, term.exponent - largest + bits));
  Parts result = parts(std::ldexp(sum, largest - bits), -126);
  result.significand = std::ldexp(result.significand, Unit::result_bits);
  result.significand =
      wrong == Wrong::rounds_to_nearest ? std::nearbyint(result.significand) : std::trunc(result.significand);
  if (result.significand == 0 && wrong != Wrong::keeps_sign_of_zero) return 0.0f;
  return static_cast<float>(std::ldexp(result.significand, result.exponent - Unit::result_bits));
}

bool same(float x, float y) { return num::to_bits(num::canonical(x)) == num::to_bits(num::canonical(y)); }

template <class Unit, class T>
float model(const std::vector<T>& a, const std::vector<T>& b, float acc) {
  return num::add_products<Unit>(a.data(), 1, b.data(), 1, static_cast<int>(a.size()), acc);
}

/// One group's operands.
template <class T>
struct Group {
  std::vector<T> a, b;
  float acc;
};

/// An element with these random bits.
template <class T>
T element_of(std::uint64_t bits) {
  if constexpr (std::is_same_v<T, float>)
    return num::from_bits<float>(static_cast<std::uint32_t>(bits));
  else
    return T::from_bits(static_cast<decltype(T::bits)>(bits));
}

/// Random data of several kinds, some of each: ordinary values; all bit patterns; exponents near each other or near an
/// end; pairs of products that cancel; sums at float's smallest and largest values; few elements that are not zero.
constexpr int kinds = 8;
template <class Unit, class T>
Group<T> random_group(int kind, std::uint64_t seed) {
  const auto bits = [&](std::uint64_t i) { return verify::random_bits(seed, i); };
  // A value whose exponent is within a few of e.
  const auto near = [&](int e, std::uint64_t i) {
    const float magnitude = std::ldexp(1.0f + static_cast<float>(bits(2 * i) & 0xffff) / 65536.0f,
                                       std::max(e + static_cast<int>(bits(2 * i + 1) % 5) - 2, -149));
    return bits(2 * i) >> 63 ? -magnitude : magnitude;
  };
  Group<T> g{std::vector<T>(Unit::group), std::vector<T>(Unit::group), 0.0f};
  g.acc = verify::random_value<float>(seed, 999);
  // Products of two such operands lie around float's smallest and largest values, where the format reaches them.
  constexpr int low = std::max(lowest_exponent<T>, -75), high = std::min(highest_exponent<T> - 2, 62);
  constexpr int range = highest_exponent<T> - lowest_exponent<T>;
  for (int k = 0; k < Unit::group; ++k) {
    const std::uint64_t i = 10 * k;
    g.a[k] = verify::random_value<T>(seed, i);
    g.b[k] = verify::random_value<T>(seed, i + 1);
    if (kind == 1) {
      g.a[k] = element_of<T>(bits(i));
      g.b[k] = element_of<T>(bits(i + 1));
    } else if (kind == 2) {
      g.a[k] = T(near(0, i));
      g.b[k] = T(near(0, i + 1));
    } else if (kind == 3 || kind == 4) {
      g.a[k] = T(near(kind == 3 ? low : high, i));
      g.b[k] = T(near(kind == 3 ? low : high, i + 1));
    } else if (kind == 5 && k % 2 == 1) {  // heavy cancellation
      g.a[k] = g.a[k - 1];
      g.b[k] = T(-static_cast<float>(g.b[k - 1]));
      if (bits(i + 2) % 4 == 0) g.b[k] = verify::random_value<T>(seed, i + 3);
    } else if (kind == 6) {
      g.a[k] = T(near(lowest_exponent<T> + static_cast<int>(bits(i + 2) % range), i));
      g.b[k] = T(near(lowest_exponent<T> + static_cast<int>(bits(i + 3) % range), i + 1));
    } else if (kind == 7 && bits(i + 4) % 4 != 0) {
      g.a[k] = T(bits(i + 5) % 2 ? 0.0f : -0.0f);
    }
  }
  if (kind == 1) g.acc = num::from_bits<float>(static_cast<std::uint32_t>(bits(999)));
  if (kind == 2) g.acc = near(3, 999);
  if (kind == 3) g.acc = bits(998) % 2 ? 0.0f : near(-148, 999);
  if (kind == 4) g.acc = near(125, 999);
  if (kind == 5) g.acc = bits(998) % 3 ? 0.0f : std::ldexp(g.acc, -20);
  if (kind == 6) g.acc = near(static_cast<int>(bits(998) % 252) - 126, 999);
  if (kind == 7) g.acc = bits(998) % 3 ? (bits(998) % 2 ? 0.0f : -0.0f) : near(-130, 999);
  return g;
}

/// Calls check(group) for many random groups of each kind.
template <class Unit, class T, class Check>
void for_random_groups(const Check& check) {
  const std::uint64_t count = test::is_small() ? 500 : 20000;
  for (int kind = 0; kind < kinds; ++kind)
    for (std::uint64_t seed = 0; seed < count; ++seed) check(random_group<Unit, T>(kind, seed * kinds + kind));
}

/// How many random groups a wrong formula gets wrong.
template <Wrong wrong, class Unit, class T>
int differing() {
  int count = 0;
  for_random_groups<Unit, T>(
      [&](const Group<T>& g) { count += !same(formula<Unit, wrong>(g.a, g.b, g.acc), model<Unit>(g.a, g.b, g.acc)); });
  return count;
}

/// A unit and the type of its operands, as one type for doctest.
template <class U, class E>
struct Case {
  using Unit = U;
  using Element = E;
};

/// The elements of a row or column that begins with these values; zeros follow.
template <class Unit, class T>
std::vector<T> group_of(const std::vector<float>& values) {
  std::vector<T> elements(Unit::group, T(0.0f));
  for (std::size_t k = 0; k < values.size(); ++k) elements[k] = T(values[k]);
  return elements;
}

/// The model's bits for a·b, zeros where nothing is given; the specification must have the same.
template <class Unit, class T>
std::uint32_t bits_of(const std::vector<float>& a, const std::vector<float>& b, float acc) {
  const auto x = group_of<Unit, T>(a), y = group_of<Unit, T>(b);
  const std::uint32_t found = num::to_bits(model<Unit>(x, y, acc));
  CHECK(found == num::to_bits(reference::truncated_fused_dot<Unit>(x, y, acc)));
  return found;
}

}  // namespace

#define INVAR_CASES                                                                                     \
  Case<hopper_16bit, bfloat16_t>, Case<hopper_16bit, float16_t>, Case<hopper_tf32, float>,              \
      Case<hopper_fp8, float8_e4m3_t>, Case<hopper_fp8, float8_e5m2_t>, Case<ampere_16bit, bfloat16_t>, \
      Case<ampere_16bit, float16_t>, Case<ampere_tf32, float>, Case<ada_fp8, float8_e4m3_t>,            \
      Case<ada_fp8, float8_e5m2_t>

TEST_CASE_TEMPLATE("model, specification and published formula agree", C, INVAR_CASES) {
  using Unit = typename C::Unit;
  using T = typename C::Element;
  int wrong_model = 0, wrong_formula = 0, special = 0, zero = 0, subnormal = 0;
  for_random_groups<Unit, T>([&](const Group<T>& g) {
    const float expected = reference::truncated_fused_dot<Unit>(g.a, g.b, g.acc);
    wrong_model += num::to_bits(model<Unit>(g.a, g.b, g.acc)) != num::to_bits(expected);
    wrong_formula += !same(formula<Unit>(g.a, g.b, g.acc), expected);
    special += !std::isfinite(expected);
    zero += expected == 0;
    subnormal += expected != 0 && std::fabs(expected) < 0x1p-126f;
  });
  CHECK(wrong_model == 0);
  CHECK(wrong_formula == 0);
  // The data reach what they are meant to reach.
  CHECK(special > 0);
  CHECK(zero > 0);
  if constexpr (lowest_exponent<T> == -126) CHECK(subnormal > 0);
}

TEST_CASE_TEMPLATE("a wrong formula is noticed", C, INVAR_CASES) {
  using Unit = typename C::Unit;
  using T = typename C::Element;
  CHECK(differing<Wrong::none, Unit, T>() == 0);
  CHECK(differing<Wrong::rounds_to_nearest, Unit, T>() > 0);
  CHECK(differing<Wrong::one_bit_less, Unit, T>() > 0);
  CHECK(differing<Wrong::one_bit_more, Unit, T>() > 0);
  CHECK(differing<Wrong::normalises_products, Unit, T>() > 0);
  if constexpr (lowest_exponent<T> == -126) CHECK(differing<Wrong::keeps_sign_of_zero, Unit, T>() > 0);
}

TEST_CASE_TEMPLATE("many columns at once have the bits of one at a time", C, INVAR_CASES) {
  using Unit = typename C::Unit;
  using T = typename C::Element;
  constexpr int columns = 16, steps = 2;
  const auto a = std::make_unique<tree::DecodedPanel<T, steps, Unit::group, 1>>();
  const auto b = std::make_unique<tree::DecodedPanel<T, steps, Unit::group, columns>>();
  int wrong = 0;
  for (std::uint64_t seed = 0; seed < (test::is_small() ? 100 : 4000); ++seed) {
    float together[columns], alone[columns];
    for (int n = 0; n < columns; ++n)
      for (int step = 0; step < steps; ++step) {
        const auto g = random_group<Unit, T>(static_cast<int>(seed % kinds), 100 * seed + 2 * n + step);
        if (step == 0) together[n] = alone[n] = g.acc;
        for (int k = 0; k < Unit::group; ++k) {
          if (n == 0) a->element[step * Unit::group + k] = g.a[k];
          b->element[(step * Unit::group + k) * columns + n] = g.b[k];
        }
      }
    a->decode();
    b->decode();
    for (int step = 0; step < steps; ++step) {
      const int first = step * Unit::group;
      tree::add_products_to_columns<Unit>(together, *a, *b, step);
      for (int n = 0; n < columns; ++n) {
        alone[n] = num::add_products<Unit>(a->element + first, 1, b->element + first * columns + n, columns,
                                           Unit::group, alone[n]);
        wrong += num::to_bits(together[n]) != num::to_bits(alone[n]);
      }
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE_TEMPLATE("the order inside a group is no matter", C, INVAR_CASES) {
  using Unit = typename C::Unit;
  using T = typename C::Element;
  int wrong = 0, swapped = 0;
  for_random_groups<Unit, T>([&](const Group<T>& g) {
    Group<T> other = g;
    std::reverse(other.a.begin(), other.a.end());
    std::reverse(other.b.begin(), other.b.end());
    const float expected = model<Unit>(g.a, g.b, g.acc);
    wrong += num::to_bits(model<Unit>(other.a, other.b, g.acc)) != num::to_bits(expected);
    wrong += num::to_bits(model<Unit>(g.b, g.a, g.acc)) != num::to_bits(expected);
    // Two half groups are another sum.
    const int half = Unit::group / 2;
    const float first = num::add_products<Unit>(g.a.data(), 1, g.b.data(), 1, half, g.acc);
    const float second = num::add_products<Unit>(g.a.data() + half, 1, g.b.data() + half, 1, half, first);
    swapped += !same(second, expected);
  });
  CHECK(wrong == 0);
  CHECK(swapped > 0);
}

// From "Numerical behavior of NVIDIA tensor cores" on: 2^23 − 2^23 − 0.5 − 0.25 − 0.125 tells the generations apart.
TEST_CASE("the fingerprint of each generation") {
  const std::vector<float> a{4096, 4096, 0.5f, 0.5f, 0.125f}, b{2048, -2048, -1, -0.5f, -1};
  const auto value = [](std::uint32_t bits) { return num::from_bits<float>(bits); };
  CHECK(value(bits_of<hopper_16bit, float16_t>(a, b, 0)) == -0.75f);
  CHECK(value(bits_of<hopper_16bit, bfloat16_t>(a, b, 0)) == -0.75f);
  CHECK(value(bits_of<hopper_tf32, float>(a, b, 0)) == -0.75f);
  CHECK(value(bits_of<ampere_16bit, float16_t>(a, b, 0)) == -0.5f);
  CHECK(value(bits_of<ampere_16bit, bfloat16_t>(a, b, 0)) == -0.5f);
  CHECK(value(bits_of<hopper_fp8, float8_e5m2_t>(a, b, 0)) == 0.0f);
  // One of the terms as the accumulator.
  const std::vector<float> c(a.begin() + 1, a.end()), d(b.begin() + 1, b.end());
  CHECK(value(bits_of<hopper_16bit, float16_t>(c, d, 0x1p23f)) == -0.75f);
  CHECK(value(bits_of<ampere_tf32, float>(c, d, 0x1p23f)) == -0.5f);
}

TEST_CASE("known values: zeros, subnormals, overflow") {
  using U = hopper_16bit;
  using B = bfloat16_t;
  const auto bits = [](float x) { return num::to_bits(x); };
  // A sum of exactly 0 is +0, whatever its terms.
  CHECK(bits_of<U, B>({}, {}, 0.0f) == 0u);
  CHECK(bits_of<U, B>({}, {}, -0.0f) == 0u);
  CHECK(bits_of<U, B>({-0.0f, 0.0f}, {1.0f, -1.0f}, -0.0f) == 0u);
  CHECK(bits_of<U, B>({1.0f, -1.0f}, {3.0f, 3.0f}, -0.0f) == 0u);
  CHECK(bits_of<U, B>({1.0f}, {3.0f}, -3.0f) == 0u);
  // A group of zeros keeps every other accumulator.
  for (const float acc : {0x1p-149f, -0x1.fffffcp-127f, 0x1p-126f, 0x1.fffffep127f, -1.0f, inf, -inf})
    CHECK(bits_of<U, B>({}, {}, acc) == bits(acc));
  // Subnormal operands, results and accumulators are kept.
  CHECK(bits_of<U, B>({0x1p-133f}, {1.0f}, 0.0f) == bits(0x1p-133f));
  CHECK(bits_of<U, B>({0x1p-133f}, {0x1p-16f}, 0.0f) == 1u);
  CHECK(bits_of<U, B>({0x1p-100f}, {-0x1p-49f}, 0x1p-148f) == 1u);
  CHECK(bits_of<U, float16_t>({0x1p-24f}, {0x1p-24f}, 0.0f) == bits(0x1p-48f));
  CHECK(bits_of<U, float16_t>({0x1p-24f, 0x1.8p-23f}, {65504.0f, -2.0f}, 0.0f) == bits(65504 * 0x1p-24f - 0x1.8p-22f));
  // The result is cut, not rounded: subnormals too, and what is cut to 0 is +0.
  CHECK(bits_of<U, B>({1.0f, 0x1p-12f}, {1.0f, 0x1.8p-12f}, 0.0f) == bits(1.0f));
  CHECK(bits_of<U, B>({-1.0f, -0x1p-12f}, {1.0f, 0x1.8p-12f}, 0.0f) == bits(-1.0f));
  CHECK(bits_of<U, B>({0x1.8p-75f}, {0x1p-74f}, 0.0f) == 1u);
  CHECK(bits_of<U, B>({0x1p-75f}, {0x1.8p-75f}, 0.0f) == 0u);
  CHECK(bits_of<U, B>({-0x1p-75f}, {0x1.8p-75f}, 0.0f) == 0u);
  CHECK(bits_of<U, B>({-0x1p-133f}, {0x1p-133f}, 0.0f) == 0u);  // cut before the sum: no term is left
  // Products beyond float's range meet the sum unrounded.
  CHECK(bits_of<U, B>({0x1p127f, -0x1p127f}, {0x1p127f, 0x1p127f}, 2.0f) == 0u);
  CHECK(bits_of<U, B>({0x1p64f, -0x1p64f}, {0x1p64f, 0x1.fcp63f}, 0.0f) == bits(0x1p121f));
  CHECK(bits_of<U, B>({0x1p64f}, {0x1p64f}, 0.0f) == bits(inf));
  CHECK(bits_of<U, B>({-0x1p64f}, {0x1p64f}, 0.0f) == bits(-inf));
  CHECK(bits_of<U, B>({0x1p63f, 0x1p62f}, {0x1.fep64f, 0x1p42f}, 0x1.fffffep118f) == bits(0x1.ffp127f));
  CHECK(bits_of<U, B>({0x1p103f, 0x1p101f}, {1.0f, 0x1.fcp0f}, 0x1.fffffep127f) == bits(0x1.fffffep127f));
  CHECK(bits_of<U, B>({0x1p104f}, {1.0f}, 0x1.fffffep127f) == bits(inf));
  // More than 2^31 units of alignment: the largest sum that there is.
  const std::vector<float> largest(16, 0x1.fep0f);
  CHECK(bits_of<U, B>(largest, largest, 0x1.fffffep1f) ==
        bits(std::trunc((16 * 0x1.fep0f * 0x1.fep0f + 4) * 0x1p17f) * 0x1p-17f - 0x1p-17f));
}

TEST_CASE("known values: the exponent of zeros") {
  // 2^-149 − 2^-158 is cut to 0. Where 2^-159 lies below the last bit that is kept, 2^-149 stays whole.
  CHECK(bits_of<hopper_16bit, bfloat16_t>({0x1p-75f, -0x1p-79f}, {0x1p-74f, 0x1p-79f}, 0.0f) == 0u);
  CHECK(bits_of<hopper_16bit, bfloat16_t>({0x1p-75f, -0x1p-80f}, {0x1p-74f, 0x1p-79f}, 0.0f) == 1u);
  CHECK(bits_of<ampere_16bit, bfloat16_t>({0x1p-75f, -0x1p-78f}, {0x1p-74f, 0x1p-78f}, 0.0f) == 0u);
  CHECK(bits_of<ampere_16bit, bfloat16_t>({0x1p-75f, -0x1p-79f}, {0x1p-74f, 0x1p-78f}, 0.0f) == 1u);
  // Without an exponent for zeros the first of these keeps its bits.
  const auto a = group_of<hopper_16bit, bfloat16_t>({0x1p-75f, -0x1p-80f, 0x1p-80f});
  const auto b = group_of<hopper_16bit, bfloat16_t>({0x1p-74f, 0x1p-79f, 0x1p-80f});
  CHECK(model<hopper_16bit>(a, b, 0.0f) == 0x1p-149f);
  CHECK(formula<hopper_16bit, Wrong::no_zero_exponent>(a, b, 0.0f) == 0.0f);
}

TEST_CASE("known values: infinities and NaN") {
  using U = hopper_16bit;
  const std::uint32_t plus = 0x7f800000u, minus = 0xff800000u, unit_nan = 0x7fffffffu;
  const auto check = [&](auto element) {
    using T = decltype(element);
    CHECK(bits_of<U, T>({inf}, {2.0f}, 1.0f) == plus);
    CHECK(bits_of<U, T>({inf}, {-2.0f}, 1.0f) == minus);
    CHECK(bits_of<U, T>({inf, 1.0f, -inf}, {-2.0f, 1.0f, 3.0f}, -inf) == minus);
    CHECK(bits_of<U, T>({1.0f}, {1.0f}, inf) == plus);
    CHECK(bits_of<U, T>({inf}, {-inf}, 1.0f) == minus);
    CHECK(bits_of<U, T>({inf}, {0.0f}, 1.0f) == unit_nan);
    CHECK(bits_of<U, T>({-0.0f}, {inf}, 1.0f) == unit_nan);
    CHECK(bits_of<U, T>({inf, inf}, {1.0f, -1.0f}, 1.0f) == unit_nan);
    CHECK(bits_of<U, T>({inf}, {1.0f}, -inf) == unit_nan);
    CHECK(bits_of<U, T>({1.0f}, {1.0f}, nan()) == unit_nan);
    CHECK(bits_of<U, T>({nan()}, {0.0f}, 1.0f) == unit_nan);
    CHECK(bits_of<U, T>({1.0f, inf}, {nan(), 1.0f}, -inf) == unit_nan);
  };
  check(bfloat16_t{});
  check(float16_t{});
  // The smallest payloads count.
  const bfloat16_t one(1.0f), tiny_nan = bfloat16_t::from_bits(0xff81u);
  CHECK(num::to_bits(num::add_products<U>(&one, 1, &tiny_nan, 1, 1, 0.0f)) == unit_nan);
  // e4m3 has no infinity: 0x7f is NaN, 0x7e is 448.
  using E = float8_e4m3_t;
  const E x = E::from_bits(0x7e), y = E::from_bits(0x7f), z(1.0f);
  CHECK(num::add_products<hopper_fp8>(&x, 1, &z, 1, 1, 0.0f) == 448.0f);
  CHECK(num::to_bits(num::add_products<hopper_fp8>(&y, 1, &z, 1, 1, 0.0f)) == unit_nan);
}

TEST_CASE("tf32 drops the low bits of a float, fp8 operands may meet") {
  CHECK(bits_of<hopper_tf32, float>({0x1.fffffep0f}, {0x1.001ffep0f}, 0) == num::to_bits(0x1.ffcp0f));
  CHECK(bits_of<hopper_tf32, float>({-0x1.003ffep0f}, {1.0f}, 0) == num::to_bits(-0x1p0f));
  CHECK(bits_of<hopper_tf32, float>({0x1p-136f}, {0x1p10f}, 0) == num::to_bits(0x1p-126f));
  CHECK(bits_of<hopper_tf32, float>({0x1p-137f}, {0x1p10f}, 0) == 0u);  // below tf32's subnormals
  const float8_e4m3_t a[2] = {float8_e4m3_t(1.125f), float8_e4m3_t(-0x1p-9f)};
  const float8_e5m2_t b[2] = {float8_e5m2_t(1.25f), float8_e5m2_t(0x1p-16f)};
  CHECK(num::add_products<hopper_fp8>(a, 1, b, 1, 1, 0.0f) == 1.40625f);
  CHECK(num::add_products<hopper_fp8>(a + 1, 1, b + 1, 1, 1, 0.0f) == -0x1p-25f);
  CHECK(num::add_products<hopper_fp8>(a, 1, b, 1, 1, 0x1p-13f) == 1.40625f + 0x1p-13f);
  CHECK(num::add_products<hopper_fp8>(a, 1, b, 1, 1, 0x1.fp-14f) == 1.40625f);  // cut below 13 fraction bits
}

TEST_CASE_TEMPLATE("8-bit types: all values come back, and narrowing rounds to nearest even", T, float8_e4m3_t,
                   float8_e5m2_t) {
  const int infinity = T::has_infinity ? 0x7c : 0x7f;
  const auto value = [](int m) {  // by the definition of the format
    const int field = m >> T::fraction_bits, fraction = m & ((1 << T::fraction_bits) - 1);
    return std::ldexp(field == 0 ? fraction : fraction + (1 << T::fraction_bits),
                      std::max(field, 1) - T::bias - T::fraction_bits);
  };
  for (int m = 0; m < infinity; ++m)
    for (const int sign : {0, 0x80}) {
      const T x = T::from_bits(static_cast<std::uint8_t>(m | sign));
      CHECK(static_cast<double>(static_cast<float>(x)) == (sign ? -value(m) : value(m)));
      CHECK(T(static_cast<float>(x)).bits == (m | sign));
      const auto midpoint = static_cast<float>((value(m) + value(m + 1)) / 2) * (sign ? -1 : 1);
      CHECK(T(midpoint).bits == ((m + m % 2) | sign));
      CHECK(T(std::nextafter(midpoint, 0.0f)).bits == (m | sign));
      CHECK(T(std::nextafter(midpoint, 2 * midpoint)).bits == ((m + 1) | sign));
    }
  CHECK(T(inf).bits == infinity);
  CHECK(T(1e30f).bits == infinity);
  CHECK(T(0x1p-149f).bits == 0);
  CHECK(T(nan()).bits == (T::has_infinity ? 0x7e : 0x7f));
  for (int m = infinity; m < 0x80; ++m) {
    const float wide = static_cast<float>(T::from_bits(static_cast<std::uint8_t>(m)));
    CHECK((wide == inf) == (T::has_infinity && m == 0x7c));
    CHECK((wide != wide) == !(T::has_infinity && m == 0x7c));
  }
}

TEST_CASE("contracts: names, default leaves, operands") {
  using namespace contract;
  CHECK(Matmul<>::name() == "matmul<ieee,512>");
  CHECK(Matmul<hopper_16bit>::name() == "matmul<truncated_fused_dot<16bit,16,25,23,-133>,2048>");
  CHECK(MatmulTo<hopper_16bit, float>::name() == "matmul<truncated_fused_dot<16bit,16,25,23,-133>,512>");
  CHECK(SingleChainMatmul<hopper_fp8>::name() == "matmul<truncated_fused_dot<fp8,32,13,13,-133>,whole_k>");
  CHECK(Matmul<hopper_fp8>::name() == "matmul<truncated_fused_dot<fp8,32,13,13,-133>,128>");
  CHECK(Matmul<ampere_tf32>::name() == "matmul<truncated_fused_dot<tf32,4,24,23,-132>,2048>");
  static_assert(std::is_same_v<MatmulTo<hopper_16bit, bfloat16_t>, Matmul<hopper_16bit>>);
  static_assert(std::is_same_v<MatmulTo<ieee, float>, Matmul<>>);
  static_assert(num::multiplies<hopper_16bit, bfloat16_t, bfloat16_t>());
  static_assert(num::multiplies<hopper_fp8, float8_e4m3_t, float8_e5m2_t>());
  static_assert(!num::multiplies<hopper_16bit, bfloat16_t, float16_t>());
  static_assert(!num::multiplies<hopper_16bit, float, float>());
  static_assert(!num::multiplies<hopper_tf32, double, double>());
  static_assert(!num::multiplies<hopper_tf32, bfloat16_t, bfloat16_t>());
}
