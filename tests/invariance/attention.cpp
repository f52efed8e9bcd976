// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does not depend on the element type: layouts, mixed types, special values, refusals.
#include "support/attention_law.hpp"

using namespace invar;
using namespace invar::test;
using Kokkos::ALL;

namespace {

using Default = contract::DefaultAttention;

template <class... Values>
Indices indices(Values... values) {
  Indices v("indices", sizeof...(values));
  int i = 0;
  ((v(i++) = values), ...);
  return v;
}

template <class View>
View random_view(std::uint64_t seed, int a, int b, int c, int d = -1) {
  View v;
  if constexpr (static_cast<int>(View::rank) == 3)
    v = View("random", a, b, c);
  else
    v = View("random", a, b, c, d);
  verify::fill_random(v, seed);
  return v;
}

}  // namespace

TEST_CASE("attention: every layout of q, k, v and out") {
  // 5 queries at the end of 70 positions, 4 heads on 2 KV heads.
  const auto q = random_view<Heads<float>>(1, 5, 4, 12);
  const auto k = random_view<Cache<float>>(2, 1, 70, 2, 12), v = random_view<Cache<float>>(3, 1, 70, 2, 9);
  const Indices begin = indices(0, 5), length = indices(70);
  const Heads<float> expected("expected", 5, 4, 9);
  reference::attention(expected, q, ContiguousKv{k, v}, begin, length, score_scale, true);
  const auto check = [&](const auto& out, const auto& any_q, const auto& any_k, const auto& any_v) {
    attention(executions().back(), out, any_q, ContiguousKv{any_k, any_v}, begin, length, {score_scale, true});
    CHECK_BITS(expected, out);
  };

  const Kokkos::View<float***, Kokkos::LayoutLeft, Memory> left_q("q", 5, 4, 12), left_out("out", 5, 4, 9);
  const Kokkos::View<float****, Kokkos::LayoutLeft, Memory> left_k("k", 1, 70, 2, 12), left_v("v", 1, 70, 2, 9);
  Kokkos::deep_copy(left_q, q);
  Kokkos::deep_copy(left_k, k);
  Kokkos::deep_copy(left_v, v);
  check(left_out, left_q, left_k, left_v);

  // q as a slice of a fused q, k, v buffer, and a cache that keeps keys and values interleaved, all among garbage.
  const Heads<float> fused("fused", 5, 8, 15);
  const Kokkos::View<float*****, Kokkos::LayoutRight, Memory> both("both", 1, 80, 2, 2, 12);
  std::fill_n(fused.data(), fused.span(), garbage<float>());
  std::fill_n(both.data(), both.span(), garbage<float>());
  const auto slice_q = Kokkos::subview(fused, ALL, std::pair(2, 6), std::pair(1, 13));
  const auto slice_k = Kokkos::subview(both, ALL, ALL, 0, ALL, ALL);
  const auto slice_v = Kokkos::subview(both, ALL, ALL, 1, ALL, std::pair(3, 12));
  Kokkos::deep_copy(slice_q, q);
  Kokkos::deep_copy(Kokkos::subview(slice_k, ALL, std::pair(0, 70), ALL, ALL), k);
  Kokkos::deep_copy(Kokkos::subview(slice_v, ALL, std::pair(0, 70), ALL, ALL), v);
  const Heads<float> wide("wide", 5, 4, 20);
  check(Kokkos::subview(wide, ALL, ALL, std::pair(4, 13)), slice_q, slice_k, slice_v);
}

TEST_CASE("attention: positions 4096 bytes apart, which meet in the same places of a cache") {
  // 2 queries for each of 16 heads, which share 8 KV heads, at the end of 45 and of 300 positions.
  const auto q = random_view<Heads<float>>(1, 4, 16, 128);
  const auto k = random_view<Cache<float>>(2, 2, 300, 8, 128), v = random_view<Cache<float>>(3, 2, 300, 8, 128);
  const Indices begin = indices(0, 2, 4), length = indices(45, 300);
  const Heads<float> expected("expected", 4, 16, 128), out("out", 4, 16, 128);
  reference::attention(expected, q, ContiguousKv{k, v}, begin, length, score_scale, true);
  for (const auto* schedule : attention_schedules()) {
    fill_all(out, garbage<float>());
    attention(executions().back(), out, q, ContiguousKv{k, v}, begin, length, {score_scale, true}, schedule);
    CHECK_BITS(expected, out);
  }
}

TEST_CASE("attention: element types may differ") {
  const auto q = random_view<Heads<float>>(1, 5, 4, 12);
  const auto k = random_view<Cache<bfloat16_t>>(2, 1, 70, 2, 12);
  const auto v = random_view<Cache<float16_t>>(3, 1, 70, 2, 9);
  const Indices begin = indices(0, 5), length = indices(70);
  const Heads<bfloat16_t> expected("expected", 5, 4, 9), out("out", 5, 4, 9);
  reference::attention(expected, q, ContiguousKv{k, v}, begin, length, score_scale, true);
  attention(executions().back(), out, q, ContiguousKv{k, v}, begin, length, {score_scale, true});
  CHECK_BITS(expected, out);
}

TEST_CASE("attention: scale 0 stands for one over the root of the head dimension") {
  const auto q = random_view<Heads<float>>(1, 1, 1, 16);
  const auto k = random_view<Cache<float>>(2, 1, 40, 1, 16), v = random_view<Cache<float>>(3, 1, 40, 1, 16);
  const Heads<float> chosen("chosen", 1, 1, 16), given("given", 1, 1, 16);
  attention(executions().back(), chosen, q, ContiguousKv{k, v}, indices(0, 1), indices(40));
  attention(executions().back(), given, q, ContiguousKv{k, v}, indices(0, 1), indices(40), {0.25f, true});
  CHECK_BITS(chosen, given);
}

TEST_CASE("attention: equal scores give the mean of the values") {
  // With q = 0 every probability is exactly 1, and a power of two of equal values has an exact mean.
  for (const int positions : {1, 2, 128, 2048}) {
    const Heads<float> q("q", 1, 1, 16), out("out", 1, 1, 16), expected("expected", 1, 1, 16);
    const auto k = random_view<Cache<float>>(2, 1, 2048, 1, 16);
    const Cache<float> v("v", 1, 2048, 1, 16);
    fill_all(v, 0.75f);
    fill_all(expected, 0.75f);
    attention(executions().back(), out, q, ContiguousKv{k, v}, indices(0, 1), indices(positions));
    CHECK_BITS(expected, out);
  }
}

TEST_CASE("attention: a masked position contributes nothing, NaN included") {
  // 6 queries at positions 64 … 69; keys and values of positions 67 … 69 are NaN: queries 64 … 66 must not notice.
  const auto q = random_view<Heads<float>>(1, 6, 2, 16);
  const auto k = random_view<Cache<float>>(2, 1, 70, 1, 16), v = random_view<Cache<float>>(3, 1, 70, 1, 16);
  const Indices begin = indices(0, 6), length = indices(70);
  const Heads<float> expected("expected", 6, 2, 16), out("out", 6, 2, 16);
  reference::attention(expected, q, ContiguousKv{k, v}, begin, length, score_scale, true);
  for (int p = 67; p < 70; ++p)
    for (int d = 0; d < 16; ++d) k(0, p, 0, d) = v(0, p, 0, d) = garbage<float>();
  for (const auto* schedule : attention_schedules()) {
    attention(executions().back(), out, q, ContiguousKv{k, v}, begin, length, {score_scale, true}, schedule);
    Kokkos::fence();
    const auto clean = std::pair(0, 3);
    CHECK_BITS(Kokkos::subview(expected, clean, ALL, ALL), Kokkos::subview(out, clean, ALL, ALL));
    bool poisoned = true;
    for (int t = 3; t < 6; ++t)
      for (int d = 0; d < 16; ++d)
        poisoned = poisoned && verify::element_bits(out(t, 1, d)) == verify::element_bits(num::canonical_nan<float>());
    CHECK(poisoned);
  }
}

TEST_CASE("attention: what sees nothing is zero, and a length is cut to the capacity") {
  const auto q = random_view<Heads<float>>(1, 9, 2, 16);
  const auto k = random_view<Cache<float>>(2, 2, 40, 1, 16), v = random_view<Cache<float>>(3, 2, 40, 1, 16);
  // Tokens 0 and 8 belong to no request; request 0 has 4 queries on 2 positions; request 1 claims too many positions.
  const Indices begin = indices(1, 5, 8), length = indices(2, 1000), cut = indices(2, 40);
  const Heads<float> out("out", 9, 2, 16), expected("expected", 9, 2, 16);
  reference::attention(expected, q, ContiguousKv{k, v}, begin, cut, score_scale, true);
  for (const auto* schedule : attention_schedules()) {
    fill_all(out, garbage<float>());
    attention(executions().back(), out, q, ContiguousKv{k, v}, begin, length, {score_scale, true}, schedule);
    CHECK_BITS(expected, out);
    const Heads<float> zero("zero", 3, 2, 16);
    CHECK_BITS(zero, Kokkos::subview(out, std::pair(0, 3), ALL, ALL));
  }
}

TEST_CASE("attention: no tokens and no requests") {
  const Cache<float> cache("cache", 0, 40, 1, 16);
  const Heads<float> none("none", 0, 2, 16);
  attention(executions().back(), none, Heads<float>("q", 0, 2, 16), ContiguousKv{cache, cache}, indices(0),
            Indices("none", 0));
  const Heads<float> out("out", 3, 2, 16), zero("zero", 3, 2, 16);
  fill_all(out, garbage<float>());
  attention(executions().back(), out, random_view<Heads<float>>(1, 3, 2, 16), ContiguousKv{cache, cache}, indices(0),
            Indices("none", 0));
  CHECK_BITS(zero, out);
}

TEST_CASE("attention: infinite scores") {
  const auto q = random_view<Heads<float>>(1, 1, 1, 16);
  const auto v = random_view<Cache<float>>(3, 1, 200, 1, 16);
  const Heads<float> expected("expected", 1, 1, 16), out("out", 1, 1, 16);
  for (int d = 0; d < 16; ++d) q(0, 0, d) = 1.0f;
  for (const bool positive : {false, true}) {
    const auto k = random_view<Cache<float>>(2, 1, 200, 1, 16);
    for (const int p : {0, 1, 130}) k(0, p, 0, 5) = infinity<float>(!positive);
    reference::attention(expected, q, ContiguousKv{k, v}, indices(0, 1), indices(200), score_scale, true);
    attention(executions().back(), out, q, ContiguousKv{k, v}, indices(0, 1), indices(200), {score_scale, true});
    CHECK_BITS(expected, out);
    CHECK((out(0, 0, 0) != out(0, 0, 0)) == positive);
  }
  // −∞ everywhere is like seeing nothing.
  const Cache<float> k("k", 1, 200, 1, 16);
  fill_all(k, infinity<float>(true));
  attention(executions().back(), out, q, ContiguousKv{k, v}, indices(0, 1), indices(200), {score_scale, true});
  const Heads<float> zero("zero", 1, 1, 16);
  CHECK_BITS(zero, out);
}

TEST_CASE("attention: refusals") {
  const Execution exec;
  const Heads<float> q("q", 5, 4, 16), out("out", 5, 4, 16);
  const Cache<float> k("k", 2, 40, 2, 16), v("v", 2, 40, 2, 16), other_v("v", 2, 39, 2, 16),
      wide("wide", 2, 40, 2, 257);
  const Indices begin = indices(0, 2, 5), length = indices(7, 9);
  const auto refused = [&](const char* words, const auto& call) {
    fill_all(out, garbage<float>());
    const Heads<float> before("before", 5, 4, 16);
    fill_all(before, garbage<float>());
    std::string message;
    try {
      call();
    } catch (const error& e) {
      message = e.what();
    }
    CHECK_MESSAGE(message.find(words) != std::string::npos, "expected: " << words << "; found: " << message);
    CHECK_BITS(before, out);
  };
  const ContiguousKv kv{k, v};
  const auto heads = [&](int n) { return Kokkos::subview(q, ALL, std::pair(0, n), ALL); };
  refused("out extent 0: expected 4, found 5",
          [&] { attention(exec, out, Kokkos::subview(q, std::pair(0, 4), ALL, ALL), kv, begin, length); });
  refused("out extent 1: expected 3, found 4", [&] { attention(exec, out, heads(3), kv, begin, length); });
  refused("q extent 1: expected a multiple of the 2 KV heads, found 3",
          [&] { attention(exec, Kokkos::subview(out, ALL, std::pair(0, 3), ALL), heads(3), kv, begin, length); });
  refused("k extent 3: expected 12, found 16",
          [&] { attention(exec, out, Kokkos::subview(q, ALL, ALL, std::pair(0, 12)), kv, begin, length); });
  refused("v extent 1: expected 40, found 39", [&] {
    attention(exec, out, q, ContiguousKv{k, other_v}, begin, length);
  });
  refused("query_begin extent 0: expected 3, found 2", [&] { attention(exec, out, q, kv, indices(0, 5), length); });
  refused("kv requests: expected 1, found 2", [&] { attention(exec, out, q, kv, indices(0, 5), indices(7)); });
  refused("head dimension: expected at most 256, found 257", [&] {
    attention(exec, Heads<float>("out", 5, 4, 257), Heads<float>("q", 5, 4, 257), ContiguousKv{wide, wide}, begin,
              length);
  });
  refused("scale: expected a positive finite number", [&] {
    attention(exec, out, q, kv, begin, length, {-1.0f, true});
  });
  refused("scale: expected a positive finite number", [&] {
    attention(exec, out, q, kv, begin, length, {infinity<float>(), true});
  });
  refused("out: expected memory apart from q", [&] { attention(exec, out, out, kv, begin, length); });
}
