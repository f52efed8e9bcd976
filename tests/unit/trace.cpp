// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <doctest/doctest.h>

#include <invar/num/arithmetic.hpp>
#include <invar/num/types.hpp>
#include <invar/verify/random.hpp>
#include <invar/verify/trace.hpp>

#include <cmath>
#include <cstdint>
#include <set>

using namespace invar;
using verify::Trace;

namespace {
const Trace a = Trace::input(1), b = Trace::input(2), c = Trace::input(3), d = Trace::input(4);
}

TEST_CASE("inputs and constants are told apart") {
  std::set<std::uint64_t> hashes;
  for (int i = 0; i < 1000; ++i) hashes.insert(Trace::input(i).hash);
  for (const double x : {0.0, -0.0, 1.0, -1.0, 0.5, 1e-5, 2.0}) hashes.insert(Trace(x).hash);
  CHECK(hashes.size() == 1007);
  CHECK(Trace(1.0) == Trace(1.0f));
  CHECK(Trace(2) == Trace(2.0));
}

TEST_CASE("what is the same for every float is the same here") {
  CHECK(num::add(a, b) == num::add(b, a));
  CHECK(num::mul(a, b) == num::mul(b, a));
  CHECK(num::fma(a, b, c) == num::fma(b, a, c));
  CHECK(num::add(a, Trace(-0.0)) == a);
  CHECK(num::add(Trace(-0.0), a) == a);
  CHECK(num::fma(a, b, Trace(-0.0)) == num::mul(a, b));
  const Trace lowest(-HUGE_VAL), highest(HUGE_VAL);
  CHECK(num::max(lowest, a) == a);
  CHECK(num::min(a, highest) == a);
  CHECK(num::max(a, num::max(b, c)) == num::max(num::max(c, a), b));
  CHECK(num::min(a, num::min(b, c)) == num::min(num::min(c, a), b));
  CHECK(num::mul_unfenced(a, b) == num::mul(a, b));
}

TEST_CASE("what may differ for some float differs here") {
  CHECK(num::add(num::add(a, b), c) != num::add(a, num::add(b, c)));
  CHECK(num::mul(num::mul(a, b), c) != num::mul(a, num::mul(b, c)));
  CHECK(num::add(a, Trace(0.0)) != a);  // −0 + 0 is +0
  CHECK(num::mul(a, Trace(1.0)) != Trace(1.0));
  CHECK(num::fma(a, b, c) != num::add(num::mul(a, b), c));
  CHECK(num::fma(a, b, c) != num::fma(a, c, b));
  CHECK(num::fma(a, b, Trace(0.0)) != num::mul(a, b));
  CHECK(num::sub(a, b) != num::sub(b, a));
  CHECK(num::sub(a, b) != num::add(a, num::negate(b)));
  CHECK(num::div(a, b) != num::div(b, a));
  CHECK(num::sqrt(a) != num::negate(a));
  CHECK(num::max(a, b) != num::max(a, c));
  CHECK(num::max(a, a) != a);  // an element counted twice is noticed
}

TEST_CASE("every operation has a result of its own") {
  const Trace results[] = {num::add(a, b),   num::sub(a, b),         num::mul(a, b),
                           num::div(a, b),   num::max(a, b),         num::sqrt(a),
                           num::negate(a),   num::finite_or_zero(a), num::reciprocal_or_zero(a),
                           num::rsqrt(a),    num::fma(a, b, c),      num::fma(b, c, a),
                           num::fma(a, c, b)};
  std::set<std::uint64_t> hashes;
  for (const Trace& result : results) hashes.insert(result.hash);
  CHECK(hashes.size() == std::size(results));
}

TEST_CASE("swapped lanes are noticed where floats hide them") {
  // Two lanes of two elements; the swap exchanges the lanes' second elements. The float sums are exact, so equal.
  const auto lanes = [](auto w, auto x, auto y, auto z) { return num::add(num::add(w, x), num::add(y, z)); };
  CHECK(lanes(1.0f, 2.0f, 3.0f, 4.0f) == lanes(1.0f, 4.0f, 3.0f, 2.0f));
  CHECK(lanes(a, b, c, d) != lanes(a, d, c, b));
  CHECK(lanes(a, b, c, d) == lanes(c, d, a, b));
}

TEST_CASE("a long chain keeps its order") {
  const auto chain = [](int first, int second) {
    Trace total(-0.0);
    for (int i = 0; i < 1000; ++i) {
      const int k = i == first ? second : i == second ? first : i;
      total = num::fma(Trace::input(2 * k), Trace::input(2 * k + 1), total);
    }
    return total;
  };
  CHECK(chain(0, 0) == chain(999, 999));
  CHECK(chain(0, 0) != chain(0, 1));
  CHECK(chain(0, 0) != chain(998, 999));
  CHECK(chain(0, 0) != chain(3, 700));
}

TEST_CASE("random traces are inputs of (seed, index)") {
  std::set<std::uint64_t> hashes;
  for (int seed = 0; seed < 10; ++seed)
    for (int i = 0; i < 1000; ++i) hashes.insert(verify::random_value<Trace>(seed, i).hash);
  CHECK(hashes.size() == 10000);
}

TEST_CASE("storage keeps a trace") {
  CHECK(num::narrow<Trace>(num::add(a, b)) == num::add(a, b));
  CHECK(num::widen(a) == a);
}
