// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <invar/verify/random.hpp>
#include "support/axes.hpp"
#include "support/check_bits.hpp"
#include "support/framed.hpp"

#include <invar/op/rope.hpp>
#include <invar/reference/rope.hpp>
#include <invar/verify/trace.hpp>

using namespace invar;
using namespace invar::test;

namespace {

template <class T>
using Heads = Kokkos::View<T***, Kokkos::LayoutRight, Memory>;
using Positions = Kokkos::View<std::int32_t*, Memory>;
using Frequencies = Kokkos::View<float*, Memory>;
constexpr RopePairs both_pairs[] = {RopePairs::adjacent, RopePairs::halves};

struct Inputs {
  Inputs(std::int64_t tokens, std::int64_t pairs) : positions("positions", tokens), frequencies("frequencies", pairs) {
    for (std::int64_t t = 0; t < tokens; ++t)
      positions(t) = static_cast<std::int32_t>(verify::random_bits(1, t) % (t % 2 == 0 ? 100 : 1000000));
    for (std::int64_t i = 0; i < pairs; ++i) frequencies(i) = i == 0 ? 1.0f : frequencies(i - 1) * 0.75f;
  }
  Positions positions;
  Frequencies frequencies;
};

std::vector<const schedule::Elementwise*> all_schedules() {
  std::vector<const schedule::Elementwise*> list{nullptr};
  for (const auto& schedule : schedule::elementwise_table<Execution>) list.push_back(&schedule);
  return list;
}

/// Tokens [begin, end) of all arguments.
template <class V>
V tokens_of(const V& v, std::int64_t begin, std::int64_t end) {
  if constexpr (static_cast<int>(V::rank) == 1)
    return Kokkos::subview(v, std::pair(begin, end));
  else
    return Kokkos::subview(v, std::pair(begin, end), Kokkos::ALL, Kokkos::ALL);
}

}  // namespace

TEST_CASE_TEMPLATE("rope: every batch size, schedule and instance", T, float, bfloat16_t, float16_t, verify::Trace) {
  const std::int64_t most = batch_sizes().back(), heads = 3;
  // Pairs up to half the head, and elements behind them; an odd head.
  for (const auto& [dim, pairs] : {std::pair(16, 8), std::pair(20, 7), std::pair(5, 2), std::pair(4, 0)})
    for (const RopePairs which : both_pairs) {
      const Inputs in(most, pairs);
      const Heads<T> x("x", most, heads, dim), expected("expected", most, heads, dim);
      verify::fill_random(x, 10);
      reference::rope(expected, x, in.positions, in.frequencies, which == RopePairs::adjacent);
      for (const std::int64_t n : batch_sizes())
        for (const auto* schedule : all_schedules()) {
          const auto& exec = executions()[n % executions().size()];
          const std::int64_t from = n % 2 == 0 ? 0 : most - n;
          const Heads<T> y("y", n, heads, dim);
          rope(exec, y, tokens_of(x, from, from + n), tokens_of(in.positions, from, from + n), in.frequencies, which,
               schedule);
          INFO(n, " tokens from ", from, ", ", describe(exec));
          CHECK_BITS(tokens_of(expected, from, from + n), y);
        }
      const Heads<T> y("y", most, heads, dim);
      Kokkos::deep_copy(y, x);
      rope(executions().back(), y, y, in.positions, in.frequencies, which);
      CHECK_BITS(expected, y);
    }
}

TEST_CASE("rope: a head among garbage, in any layout, and other result types") {
  const Inputs in(9, 8);
  for (const RopePairs which : both_pairs) {
    // Queries as a slice of a fused [tokens, q + k + v, dim] buffer; the other heads hold NaN.
    const Heads<float> fused("fused", 9, 6, 16), plain("plain", 9, 2, 16), expected("expected", 9, 2, 16);
    std::fill_n(fused.data(), fused.span(), garbage<float>());
    verify::fill_random(plain, 1);
    reference::rope(expected, plain, in.positions, in.frequencies, which == RopePairs::adjacent);
    const auto slice = Kokkos::subview(fused, Kokkos::ALL, std::pair(2, 4), Kokkos::ALL);
    Kokkos::deep_copy(slice, plain);
    const Kokkos::View<float***, Kokkos::LayoutLeft, Memory> y("y", 9, 2, 16);
    rope(executions().back(), y, slice, in.positions, in.frequencies, which);
    CHECK_BITS(expected, y);
    rope(executions().back(), slice, slice, in.positions, in.frequencies, which);
    CHECK_BITS(expected, slice);
    CHECK(verify::element_bits(fused(4, 1, 3)) == verify::element_bits(garbage<float>()));
    CHECK(verify::element_bits(fused(4, 4, 0)) == verify::element_bits(garbage<float>()));

    const Heads<bfloat16_t> narrow("narrow", 9, 2, 16), expected_narrow("expected", 9, 2, 16);
    reference::rope(expected_narrow, plain, in.positions, in.frequencies, which == RopePairs::adjacent);
    rope(executions().back(), narrow, plain, in.positions, in.frequencies, which);
    CHECK_BITS(expected_narrow, narrow);
  }
}

TEST_CASE("rope: position 0 changes nothing, and a quarter turn swaps the pair") {
  const Heads<float> x("x", 2, 1, 2), y("y", 2, 1, 2);
  Positions positions("positions", 2);
  Frequencies frequency("frequency", 1);
  verify::fill_random(x, 1);
  frequency(0) = 1.57079637f;
  positions(1) = 1;
  rope(executions().back(), y, x, positions, frequency, RopePairs::adjacent);
  Kokkos::fence();
  CHECK(y(0, 0, 0) == x(0, 0, 0));
  CHECK(y(0, 0, 1) == x(0, 0, 1));
  CHECK(y(1, 0, 0) == doctest::Approx(-x(1, 0, 1)).epsilon(1e-6));
  CHECK(y(1, 0, 1) == doctest::Approx(x(1, 0, 0)).epsilon(1e-6));
}

TEST_CASE_TEMPLATE("rope: a wrong kernel is noticed", T, float, verify::Trace) {
  const Inputs in(9, 8);
  const Heads<T> x("x", 9, 2, 16), right("right", 9, 2, 16), wrong("wrong", 9, 2, 16);
  verify::fill_random(x, 1);
  rope(executions().back(), right, x, in.positions, in.frequencies, RopePairs::adjacent);
  reference::rope(wrong, x, in.positions, in.frequencies, false);
  CHECK_BITS_DIFFER(right, wrong);
  // The formula with the roles of fma and rounded product exchanged.
  for (int t = 0; t < 9; ++t)
    for (int h = 0; h < 2; ++h)
      for (int i = 0; i < 8; ++i) {
        const T angle = num::mul(static_cast<T>(in.positions(t)), T(in.frequencies(i)));
        const T a = x(t, h, 2 * i), b = x(t, h, 2 * i + 1);
        wrong(t, h, 2 * i) = num::fma(num::negate(b), num::sin(angle), num::mul(a, num::cos(angle)));
        wrong(t, h, 2 * i + 1) = num::fma(a, num::sin(angle), num::mul(b, num::cos(angle)));
      }
  CHECK_BITS_DIFFER(right, wrong);
}

TEST_CASE("rope: refusals") {
  const Execution exec;
  const Inputs in(4, 5);
  const Heads<float> x("x", 4, 2, 10), y("y", 4, 2, 10);
  const auto refused = [&](const std::string& words, const auto& out, const auto& call) {
    std::fill_n(y.data(), y.span(), garbage<float>());
    const Heads<float> before("before", 4, 2, 10);
    Kokkos::deep_copy(before, y);
    std::string message;
    try {
      call(out);
    } catch (const error& e) {
      message = e.what();
    }
    CHECK_MESSAGE(message.find(words) != std::string::npos, "expected: " << words << "; found: " << message);
    CHECK_BITS(before, y);
  };
  const auto run = [&](const auto& out) { rope(exec, out, x, in.positions, in.frequencies, RopePairs::halves); };
  refused("y extent 0: expected 4, found 3", tokens_of(y, 0, 3), run);
  refused("y extent 1: expected 2, found 1", Kokkos::subview(y, Kokkos::ALL, std::pair(0, 1), Kokkos::ALL), run);
  refused("positions extent 0: expected 4, found 3", y, [&](const auto& out) {
    rope(exec, out, x, tokens_of(in.positions, 0, 3), in.frequencies, RopePairs::halves);
  });
  refused("frequencies extent 0: expected at most half of head_dim 10, found 6", y,
          [&](const auto& out) { rope(exec, out, x, in.positions, Frequencies("six", 6), RopePairs::halves); });
  refused("y: expected memory apart from x", tokens_of(y, 1, 4), [&](const auto& out) {
    rope(exec, out, tokens_of(y, 0, 3), tokens_of(in.positions, 0, 3), in.frequencies, RopePairs::halves);
  });
}
