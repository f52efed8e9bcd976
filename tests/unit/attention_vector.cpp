// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host's vector functions against those of num/, lane by lane.
#include <invar/backends/host/attention_vector.hpp>
#include <invar/verify/random.hpp>
#include "support/check_bits.hpp"

#include <cmath>
#include <cstdint>

using namespace invar::backends::host::attention;
using invar::backends::host::Vector;
namespace num = invar::num;

namespace {

using V = Vector<float>;

/// Floats of every exponent and sign, those at which exp2 changes its behaviour, infinities and NaN.
float some_float(std::uint64_t i) {
  constexpr float corners[] = {0.0f,    -0.0f,       1.0f,      -1.0f,      127.99999f, 128.0f,  -125.99999f,
                               -126.0f, -126.00001f, -149.0f,   -149.5f,    -150.0f,    -151.0f, -152.0f,
                               1e30f,   -1e30f,      HUGE_VALF, -HUGE_VALF, NAN};
  constexpr std::uint64_t count = sizeof(corners) / sizeof(corners[0]);
  if (i < count) return corners[i];
  const auto bits = invar::verify::random_bits(5, i);
  // Three of four lie where the result is neither 0 nor infinity.
  if (i % 4 != 0) return static_cast<float>(static_cast<double>(bits % 290000000u) / 1e6 - 155.0);
  return num::from_bits<float>(static_cast<std::uint32_t>(bits));
}

template <class F, class Expected>
int differences(const F& f, const Expected& expected) {
  int wrong = 0;
  for (std::uint64_t i = 0; i < 400000; i += V::lanes) {
    float x[V::lanes], y[V::lanes];
    for (int l = 0; l < V::lanes; ++l) x[l] = some_float(i + l);
    f(V::load(x)).store(y);
    for (int l = 0; l < V::lanes; ++l)
      wrong += num::to_bits(num::canonical(y[l])) != num::to_bits(num::canonical(expected(x[l])));
  }
  return wrong;
}

}  // namespace

TEST_CASE("vector functions have the bits of num/") {
  CHECK(differences([](V x) { return power_of_two(x); }, [](float x) { return num::exp2(x); }) == 0);
  CHECK(differences([](V x) { return negated(x); }, [](float x) { return num::negate(x); }) == 0);
  CHECK(differences([](V x) { return finite_lanes(x); }, [](float x) { return num::finite_or_zero(x); }) == 0);
  CHECK(differences([](V x) { return reciprocal_lanes(x); }, [](float x) { return num::reciprocal_or_zero(x); }) == 0);
  CHECK(differences([](V x) { return product(x, x); }, [](float x) { return num::mul(x, x); }) == 0);
  CHECK(differences([](V x) { return difference(V::fill(1.5f), x); }, [](float x) { return num::sub(1.5f, x); }) == 0);
  // A control: one more rounding.
  CHECK(differences([](V x) { return power_of_two(x); }, [](float x) { return num::mul(num::exp2(x), 1.0000001f); }) >
        0);
}

TEST_CASE("the largest lane, and choices of lanes") {
  float x[V::lanes];
  int number[V::lanes];
  for (int largest = 0; largest < V::lanes; ++largest) {
    for (int l = 0; l < V::lanes; ++l) {
      x[l] = l == largest ? 3.0f : -static_cast<float>(l);
      number[l] = l;
    }
    CHECK(largest_lane(V::load(x)) == 3.0f);
    for (const int n : {-3, 0, largest, V::lanes, V::lanes + 5}) {
      float first[V::lanes], above[V::lanes];
      Mask<float>::first(n).select(V::fill(1.0f), V::fill(2.0f)).store(first);
      Mask<float>::above(number, n).select(V::fill(1.0f), V::fill(2.0f)).store(above);
      bool right = true;
      for (int l = 0; l < V::lanes; ++l)
        right = right && first[l] == (l < n ? 1.0f : 2.0f) && above[l] == (l > n ? 1.0f : 2.0f);
      CHECK(right);
    }
  }
}
