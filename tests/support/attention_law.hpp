// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tests of attention for one element type; each type is a program of its own.
//
// A Sequence is one request's whole history, position by position. A Piece asks for the outputs of some of its
// positions, as a decode step, a chunk or a whole prefill does. Whatever pieces form a batch, and however the cache is
// stored, each position has one right answer: the specification's for that position alone.
#ifndef INVAR_TESTS_SUPPORT_ATTENTION_LAW_HPP
#define INVAR_TESTS_SUPPORT_ATTENTION_LAW_HPP

#include <invar/verify/random.hpp>
#include "check_bits.hpp"
#include "copy.hpp"
#include "environment.hpp"
#include "framed.hpp"

#include <invar/op/attention.hpp>
#include <invar/reference/attention.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace invar::test {

constexpr float score_scale = 0.3f;

struct Geometry {
  int heads, kv_heads, dim, value_dim;
};

template <class T>
using Heads = Kokkos::View<T***, Kokkos::LayoutRight, Memory>;
template <class T>
using Cache = Kokkos::View<T****, Kokkos::LayoutRight, Memory>;
using Indices = Kokkos::View<std::int32_t*, Memory>;

/// Fills a view of rank 3 or 4.
template <class V>
void fill_all(const V& v, typename V::value_type value) {
  std::fill_n(v.data(), v.span(), value);
}

template <class T, class Contract>
class Sequence {
 public:
  Sequence(std::int64_t length, Geometry shape, std::uint64_t seed)
      : geometry(shape),
        q("q", length, geometry.heads, geometry.dim),
        k("k", 1, length, geometry.kv_heads, geometry.dim),
        v("v", 1, length, geometry.kv_heads, geometry.value_dim),
        expected_(2 * length) {
    verify::fill_random(q, seed);
    verify::fill_random(k, seed + 1);
    verify::fill_random(v, seed + 2);
  }

  std::int64_t length() const { return static_cast<std::int64_t>(q.extent(0)); }

  /// The specification's output of position p that sees `visible` positions: its own and those before, or all.
  const Heads<T>& expected(std::int64_t p, bool causal) const {
    std::unique_ptr<Heads<T>>& out = expected_[2 * p + causal];
    if (!out) {
      const std::int64_t visible = causal ? p + 1 : length();
      out = std::make_unique<Heads<T>>("expected", 1, geometry.heads, geometry.value_dim);
      Indices begin("begin", 2), lengths("length", 1);
      begin(1) = 1;
      lengths(0) = static_cast<std::int32_t>(visible);
      reference::attention<Contract>(*out, Kokkos::subview(q, std::pair(p, p + 1), Kokkos::ALL, Kokkos::ALL),
                                     ContiguousKv{k, v}, begin, lengths, score_scale, causal);
    }
    return *out;
  }

  Geometry geometry;
  Heads<T> q;
  Cache<T> k, v;

 private:
  mutable std::vector<std::unique_ptr<Heads<T>>> expected_;
};

/// Queries [begin, end) of a sequence of which the cache holds positions [0, end), or all where attention is not
/// causal.
template <class S>
struct Piece {
  const S* sequence;
  std::int64_t begin, end;
};

/// A batch of pieces with the cache that it needs: everything else in the cache is garbage.
template <class T, class Contract>
class Batch {
 public:
  using Pieces = std::vector<Piece<Sequence<T, Contract>>>;

  explicit Batch(const Pieces& pieces, bool causal = true) : pieces_(pieces), causal_(causal) {
    const auto requests = static_cast<std::int64_t>(pieces.size());
    begin = Indices("query_begin", requests + 1);
    length = Indices("kv_length", requests);
    const Geometry g = pieces[0].sequence->geometry;
    std::int64_t tokens = 0;
    for (std::int64_t r = 0; r < requests; ++r) {
      const auto& piece = pieces[r];
      tokens += piece.end - piece.begin;
      begin(r + 1) = static_cast<std::int32_t>(tokens);
      length(r) = static_cast<std::int32_t>(causal || piece.end == 0 ? piece.end : piece.sequence->length());
      capacity_ = std::max<std::int64_t>(capacity_, length(r) + 3);
    }
    q = Heads<T>("q", tokens, g.heads, g.dim);
    expected = Heads<T>("expected", tokens, g.heads, g.value_dim);
    for (std::int64_t r = 0; r < requests; ++r)
      for (std::int64_t p = pieces[r].begin; p < pieces[r].end; ++p) {
        const std::int64_t token = begin(r) + p - pieces[r].begin;
        const auto at = std::pair(token, token + 1);
        copy(Kokkos::subview(q, at, Kokkos::ALL, Kokkos::ALL),
             Kokkos::subview(pieces[r].sequence->q, std::pair(p, p + 1), Kokkos::ALL, Kokkos::ALL));
        copy(Kokkos::subview(expected, at, Kokkos::ALL, Kokkos::ALL), pieces[r].sequence->expected(p, causal));
      }
  }

  auto contiguous() const {
    const Geometry g = pieces_[0].sequence->geometry;
    const ContiguousKv kv{Cache<T>("k", pieces_.size(), capacity_, g.kv_heads, g.dim),
                          Cache<T>("v", pieces_.size(), capacity_, g.kv_heads, g.value_dim)};
    fill_all(kv.k, garbage<T>());
    fill_all(kv.v, garbage<T>());
    for (std::size_t r = 0; r < pieces_.size(); ++r)
      for (std::int64_t p = 0; p < length(r); ++p) copy_position(kv.k, kv.v, r, p, r, p);
    return kv;
  }

  /// Pages in shuffled order, some of them unused; page numbers beyond a request's end are garbage too.
  auto paged(std::int64_t page_size) const {
    const Geometry g = pieces_[0].sequence->geometry;
    const std::int64_t per_request = (capacity_ + page_size - 1) / page_size;
    const std::int64_t pages = per_request * static_cast<std::int64_t>(pieces_.size()) + 5;
    std::vector<std::int32_t> order(pages);
    for (std::int64_t i = 0; i < pages; ++i) order[i] = static_cast<std::int32_t>(i);
    for (std::int64_t i = pages - 1; i > 0; --i) std::swap(order[i], order[verify::random_bits(77, i) % (i + 1)]);
    Kokkos::View<std::int32_t**, Memory> table("page_table", pieces_.size(), per_request);
    const PagedKv kv{Cache<T>("k", pages, page_size, g.kv_heads, g.dim),
                     Cache<T>("v", pages, page_size, g.kv_heads, g.value_dim), table};
    fill_all(kv.k, garbage<T>());
    fill_all(kv.v, garbage<T>());
    for (std::size_t r = 0; r < pieces_.size(); ++r) {
      for (std::int64_t i = 0; i < per_request; ++i)
        table(r, i) = i * page_size < length(r) ? order[r * per_request + i] : 0x5a5a5a5a;
      for (std::int64_t p = 0; p < length(r); ++p)
        copy_position(kv.k, kv.v, table(r, p / page_size), p % page_size, r, p);
    }
    return kv;
  }

  template <class Kv>
  void check(const Kv& kv, const Execution& exec, const schedule::Attention* schedule = nullptr) const {
    const Heads<T> out("out", expected.extent(0), expected.extent(1), expected.extent(2));
    fill_all(out, garbage<T>());
    attention<Contract>(exec, out, q, kv, begin, length, {score_scale, causal_}, schedule);
    INFO(describe(exec), ", schedule: ", schedule ? schedule->name : "chosen by shape", ", ", pieces_.size(),
         " requests, ", q.extent(0), " tokens");
    CHECK_BITS(expected, out);
  }

  Indices begin, length;
  Heads<T> q, expected;

 private:
  void copy_position(const Cache<T>& k, const Cache<T>& v, std::int64_t to, std::int64_t slot, std::size_t request,
                     std::int64_t position) const {
    const auto& from = *pieces_[request].sequence;
    for (int h = 0; h < from.geometry.kv_heads; ++h) {
      for (int d = 0; d < from.geometry.dim; ++d) k(to, slot, h, d) = from.k(0, position, h, d);
      for (int d = 0; d < from.geometry.value_dim; ++d) v(to, slot, h, d) = from.v(0, position, h, d);
    }
  }

  Pieces pieces_;
  bool causal_;
  std::int64_t capacity_ = 1;
};

inline std::vector<const schedule::Attention*> attention_schedules() {
  std::vector<const schedule::Attention*> list{nullptr};
  for (const auto& schedule : schedule::attention_table<Execution>) list.push_back(&schedule);
  return list;
}

/// Groups of 1, 2, 3 and 8 query heads a KV head; dimensions around a register tile.
inline std::vector<Geometry> geometries() {
  return by_size<Geometry>({{6, 3, 40, 16}, {3, 1, 24, 40}, {16, 2, 8, 8}, {1, 1, 64, 65}, {2, 1, 65, 1}},
                           {{2, 2, 8, 8}, {3, 1, 24, 5}, {8, 1, 4, 4}});
}

/// Decode, chunk, whole prefill, and a request without anything, in one batch; every schedule and instance.
template <class T, class Contract>
void check_attention_schedules(bool causal) {
  for (const Geometry g : geometries()) {
    const Sequence<T, Contract> a(1, g, 10), b(40, g, 20), c(131, g, 30), d(258, g, 40);
    const Batch<T, Contract> batch(
        {{&a, 0, 1}, {&d, 257, 258}, {&b, 0, 40}, {&b, 0, 0}, {&c, 120, 131}, {&d, 250, 258}}, causal);
    const auto contiguous = batch.contiguous();
    const auto paged = batch.paged(16);
    for (const Execution& exec : executions_of_schedules())
      for (const auto* schedule : attention_schedules()) {
        batch.check(contiguous, exec, schedule);
        batch.check(paged, exec, schedule);
      }
  }
}

/// A prompt in chunks of any size, down to one token at a time, gives the bits of the whole prefill.
template <class T, class Contract>
void check_attention_chunks() {
  const std::int64_t length = is_tiny() ? 20 : is_small() ? 70 : 300;
  const Sequence<T, Contract> s(length, {3, 1, 16, 16}, 50);
  for (const std::int64_t size : {std::int64_t{1}, std::int64_t{7}, std::int64_t{64}, std::int64_t{129}, length})
    for (std::int64_t begin = 0; begin < length; begin += size) {
      INFO("chunks of ", size);
      const Batch<T, Contract> chunk({{&s, begin, std::min(length, begin + size)}});
      chunk.check(chunk.paged(16), executions()[begin % executions().size()]);
    }
}

/// Pages of any size, in any order, give the bits of a contiguous cache.
template <class T, class Contract>
void check_attention_pages() {
  const Sequence<T, Contract> a(200, {2, 1, 16, 8}, 60), b(129, {2, 1, 16, 8}, 70);
  const Batch<T, Contract> batch({{&a, 190, 200}, {&b, 128, 129}});
  batch.check(batch.contiguous(), executions().back());
  for (const std::int64_t page_size : {1, 16, 128}) {
    INFO("page size ", page_size);
    batch.check(batch.paged(page_size), executions().back());
  }
}

/// A decode step at lengths around blocks and splits, on every instance.
template <class T, class Contract>
void check_attention_lengths() {
  const Geometry g{2, 1, 16, 16};
  for (const std::int64_t length : by_size<std::int64_t>(
           {2, 31, 32, 33, 127, 128, 129, 1023, 1024, 1025, 1153, 2048, 2049, 3100}, {32, 33, 129, 1025})) {
    const Sequence<T, Contract> s(length, g, 80 + length);
    const Batch<T, Contract> step({{&s, length - 1, length}});
    const auto kv = step.contiguous();
    for (const Execution& exec : executions_of_schedules())
      for (const auto* schedule : attention_schedules()) step.check(kv, exec, schedule);
  }
}

/// A request's bits do not depend on the number of other requests, on its place among them, or on their values.
template <class T, class Contract>
void check_attention_batches() {
  const Geometry g{3, 1, 16, 16};
  const Sequence<T, Contract> s(150, g, 90);
  Sequence<T, Contract> hostile(140, g, 100);
  for (const T value : {garbage<T>(), infinity<T>()}) {
    fill_all(hostile.q, value);
    fill_all(hostile.k, value);
    fill_all(hostile.v, value);
    const int most = is_tiny() ? 3 : is_small() ? 9 : 33;
    for (int size = 1; size <= most; ++size) {
      const int place = size % 3 == 0 ? 0 : size % 3 == 1 ? size / 2 : size - 1;
      typename Batch<T, Contract>::Pieces pieces;
      for (int r = 0; r < size; ++r)
        pieces.push_back(r == place ? Piece<Sequence<T, Contract>>{&s, 147, 150}
                                    : Piece<Sequence<T, Contract>>{&hostile, 139, 140});
      const Batch<T, Contract> batch(pieces);
      const Heads<T> out("out", batch.q.extent(0), 3, 16);
      attention<Contract>(executions()[size % executions().size()], out, batch.q, batch.paged(16), batch.begin,
                          batch.length, {score_scale, true});
      const std::int64_t token = batch.begin(place);
      INFO("batch of ", size, ", place ", place);
      for (int i = 0; i < 3; ++i)
        CHECK_BITS(s.expected(147 + i, true),
                   Kokkos::subview(out, std::pair(token + i, token + i + 1), Kokkos::ALL, Kokkos::ALL));
    }
  }
}

/// A prompt whose first pages another request has already filled gives the bits of the prompt computed cold.
template <class T, class Contract>
void check_attention_prefix_reuse() {
  const Geometry g{2, 1, 16, 16};
  const std::int64_t shared = 48, length = 100;
  const Sequence<T, Contract> first(120, g, 110);
  Sequence<T, Contract> second(length, g, 120);
  for (std::int64_t p = 0; p < shared; ++p)
    for (int d = 0; d < 16; ++d) {
      for (int h = 0; h < 2; ++h) second.q(p, h, d) = first.q(p, h, d);
      second.k(0, p, 0, d) = first.k(0, p, 0, d);
      second.v(0, p, 0, d) = first.v(0, p, 0, d);
    }
  const Batch<T, Contract> cold({{&second, 0, length}});
  cold.check(cold.contiguous(), executions().back());
  const Batch<T, Contract> warm({{&first, 119, 120}, {&second, shared, length}});
  const auto kv = warm.paged(16);
  for (int page = 0; page < shared / 16; ++page) {
    for (int slot = 0; slot < 16; ++slot)
      for (int d = 0; d < 16; ++d)
        kv.k(kv.page_table(1, page), slot, 0, d) = kv.v(kv.page_table(1, page), slot, 0, d) = garbage<T>();
    kv.page_table(1, page) = kv.page_table(0, page);
  }
  warm.check(kv, executions().back());
}

/// Negative controls: blocks and splits of other sizes give other bits. The result is kept in the accumulator's type,
/// since 16 bits would hide them.
template <class T>
void check_attention_controls() {
  using Default = contract::DefaultAttention;
  using R = num::accumulator_t<T>;
  const std::int64_t length = 3100;
  const Sequence<T, Default> s(length, {4, 2, 16, 16}, 130);
  const Batch<T, Default> step({{&s, length - 1, length}});
  const ContiguousKv kv{s.k, s.v};
  const Heads<R> right("right", 1, 4, 16), expected("expected", 1, 4, 16), wrong("wrong", 1, 4, 16);
  attention(executions().back(), right, step.q, kv, step.begin, step.length, {score_scale, true});
  reference::attention(expected, step.q, kv, step.begin, step.length, score_scale, true);
  CHECK_BITS(expected, right);
  const auto differs = [&]<class Wrong>(Wrong) {
    reference::attention<Wrong>(wrong, step.q, kv, step.begin, step.length, score_scale, true);
    CHECK_BITS_DIFFER(right, wrong);
  };
  differs(contract::Attention<ieee, 128, 2048>{});
  differs(contract::Attention<ieee, 128, 512>{});
  differs(contract::Attention<ieee, 64, 1024>{});
  differs(contract::Attention<ieee, 256, 1024>{});
}

template <class T>
void check_attention_law() {
  using Default = contract::DefaultAttention;
  using Small = contract::Attention<ieee, 32, 64>;  // many splits in a short sequence
  SUBCASE("schedules") { check_attention_schedules<T, Default>(true); }
  SUBCASE("schedules, small splits") { check_attention_schedules<T, Small>(true); }
  SUBCASE("schedules, not causal") { check_attention_schedules<T, Default>(false); }
  SUBCASE("chunks") { check_attention_chunks<T, Default>(); }
  SUBCASE("chunks, small splits") { check_attention_chunks<T, Small>(); }
  SUBCASE("pages") { check_attention_pages<T, Default>(); }
  SUBCASE("lengths") { check_attention_lengths<T, Default>(); }
  SUBCASE("batches") { check_attention_batches<T, Default>(); }
  SUBCASE("prefix reuse") { check_attention_prefix_reuse<T, Default>(); }
  SUBCASE("a wrong order is noticed") { check_attention_controls<T>(); }
}

}  // namespace invar::test

#endif
