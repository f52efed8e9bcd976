// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The specification of attention: the steps of contract::Attention, one query row after another.
#ifndef INVAR_REFERENCE_ATTENTION_HPP
#define INVAR_REFERENCE_ATTENTION_HPP

#include <invar/contract/defaults.hpp>
#include <invar/num/arithmetic.hpp>
#include <invar/num/exp2.hpp>
#include <invar/num/types.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace invar::reference {

namespace detail {

template <class Value>
struct AttentionState {
  Value max;
  Value sum;
  std::vector<Value> out;
};

/// One split of one row: `score(p)` is position p's score, `value(p, d)` its value, positions [begin, end) are visible.
template <class Contract, class Value, class Score, class V>
AttentionState<Value> attention_split(std::int64_t begin, std::int64_t end, int value_dim, Value scale,
                                      const Score& score, const V& value) {
  constexpr int parts = Contract::block / 32;
  AttentionState<Value> state{Value(-HUGE_VALF), Value(0), std::vector<Value>(value_dim, Value(0))};
  std::vector<Value> classes(4 * parts, Value(0));
  for (std::int64_t block = begin; block < end; block += Contract::block) {
    const std::int64_t stop = std::min<std::int64_t>(end, block + Contract::block);
    Value highest(-HUGE_VALF);
    for (std::int64_t p = block; p < stop; ++p) highest = num::max(highest, score(p));
    const Value next = num::max(state.max, num::mul(scale, highest));
    const Value shift = num::finite_or_zero(next);
    const Value alpha = num::exp2(num::sub(state.max, shift));
    const auto probability = [&](std::int64_t p) { return num::exp2(num::fma(scale, score(p), num::negate(shift))); };
    state.max = next;
    for (int u = 0; u < parts; ++u)
      for (int t = 0; t < 4; ++t) {
        Value chain[2] = {Value(-0.0), Value(-0.0)};  // even and odd positions
        for (int i = 0; i < 4; ++i)
          for (int odd = 0; odd < 2; ++odd) {
            const std::int64_t p = block + 32 * u + 8 * i + 2 * t + odd;
            if (p < stop) chain[odd] = num::add(chain[odd], probability(p));
          }
        Value& sum = classes[4 * u + t];
        sum = num::fma(sum, alpha, num::add(chain[0], chain[1]));
      }
    for (int d = 0; d < value_dim; ++d) {
      state.out[d] = num::mul(state.out[d], alpha);
      for (std::int64_t p = block; p < stop; ++p) state.out[d] = num::fma(probability(p), value(p, d), state.out[d]);
    }
  }
  std::vector<Value> part(parts);
  for (int u = 0; u < parts; ++u)
    part[u] = num::add(num::add(classes[4 * u], classes[4 * u + 1]), num::add(classes[4 * u + 2], classes[4 * u + 3]));
  while (part.size() > 1) {
    for (std::size_t u = 0; u < part.size() / 2; ++u) part[u] = num::add(part[2 * u], part[2 * u + 1]);
    part.resize(part.size() / 2);
  }
  state.sum = part[0];
  return state;
}

/// The later split folded into the total.
template <class Value>
void attention_fold(AttentionState<Value>& total, const AttentionState<Value>& split) {
  const Value next = num::max(total.max, split.max);
  const Value shift = num::finite_or_zero(next);
  const Value a = num::exp2(num::sub(total.max, shift));
  const Value a_split = num::exp2(num::sub(split.max, shift));
  for (std::size_t d = 0; d < total.out.size(); ++d)
    total.out[d] = num::fma(split.out[d], a_split, num::mul(total.out[d], a));
  total.sum = num::fma(split.sum, a_split, num::mul(total.sum, a));
  total.max = next;
}

}  // namespace detail

/// One query row: `visible` positions of a sequence, out(d) for d < value_dim. `key(p, d)` and `value(p, d)` are the
/// cache's elements, widened; `query(d)` the row's.
template <class Contract = contract::DefaultAttention, class Value, class Query, class K, class V>
std::vector<Value> attention_row(std::int64_t visible, int head_dim, int value_dim, float scale, const Query& query,
                                 const K& key, const V& value) {
  if (visible <= 0) return std::vector<Value>(value_dim, Value(0));
  const Value scale_log2(num::mul(scale, 1.44269504088896340736f));
  std::vector<Value> scores;
  for (std::int64_t p = 0; p < visible; ++p) {
    Value chain(0);
    for (int d = 0; d < head_dim; ++d) chain = num::fma(query(d), key(p, d), chain);
    scores.push_back(chain);
  }
  detail::AttentionState<Value> total;
  for (std::int64_t begin = 0; begin < visible; begin += Contract::split) {
    const auto split = detail::attention_split<Contract, Value>(
        begin, std::min<std::int64_t>(visible, begin + Contract::split), value_dim, scale_log2,
        [&](std::int64_t p) { return scores[p]; }, value);
    if (begin == 0)
      total = split;
    else
      detail::attention_fold(total, split);
  }
  const Value factor = num::reciprocal_or_zero(total.sum);
  for (Value& element : total.out) element = num::mul(element, factor);
  return total.out;
}

/// out for all requests; arguments as those of invar::attention, views readable on the host, scale given.
template <class Contract = contract::DefaultAttention, class Out, class Q, class Kv, class Begin, class Length>
void attention(const Out& out, const Q& q, const Kv& kv, const Begin& query_begin, const Length& kv_length, float scale,
               bool causal) {
  using E = typename Q::non_const_value_type;
  using Value = num::accumulator_t<E>;
  const int group = static_cast<int>(q.extent(1) / kv.k.extent(2));
  const int value_dim = static_cast<int>(out.extent(2));
  for (std::int64_t request = 0; request < static_cast<std::int64_t>(kv_length.extent(0)); ++request)
    for (std::int64_t token = query_begin(request); token < static_cast<std::int64_t>(query_begin(request + 1));
         ++token)
      for (int head = 0; head < static_cast<int>(q.extent(1)); ++head) {
        const std::int64_t length = kv_length(request);
        const std::int64_t after = static_cast<std::int64_t>(query_begin(request + 1)) - 1 - token;
        const std::vector<Value> row = attention_row<Contract, Value>(
            causal ? length - after : length, static_cast<int>(q.extent(2)), value_dim, scale,
            [&](int d) { return num::widen(E(q(token, head, d))); },
            [&](std::int64_t p, int d) { return kv.key(request, p, head / group)(d); },
            [&](std::int64_t p, int d) { return kv.value(request, p, head / group)(d); });
        for (int d = 0; d < value_dim; ++d) out(token, head, d) = num::narrow<typename Out::value_type>(row[d]);
      }
}

}  // namespace invar::reference

#endif
