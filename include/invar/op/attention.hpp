// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Attention over a KV cache, for decode, chunked prefill and whole prefill in one call.
#ifndef INVAR_OP_ATTENTION_HPP
#define INVAR_OP_ATTENTION_HPP

#include <invar/contract/defaults.hpp>
#include <invar/num/arithmetic.hpp>
#include <invar/op/kv_cache.hpp>
#include <invar/schedule/attention.hpp>
#include <invar/view.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>

namespace invar {

/// What attention may vary apart from its shapes. All of it belongs to the result.
struct AttentionOptions {
  /// Factor of the scores; 0 stands for 1/√head_dim. Positive.
  float scale = 0.0f;
  /// True: a query sees the positions up to its own. False: the whole sequence.
  bool causal = true;
};

/// Largest head dimension of keys and values.
inline constexpr int attention_max_head_dim = 256;

namespace detail {

/// What an attention call asks for, checked: the views, and the numbers that follow from their extents.
template <class Out, class Q, class Kv, class Begin, class Length, class Scalar>
struct AttentionCall {
  Out out;
  Q q;
  Kv kv;
  Begin query_begin;
  Length kv_length;
  Scalar scale_log2;  ///< the contract's c: scale·log2(e), rounded
  bool causal;
  int kv_heads, group, head_dim, value_dim;
  std::int64_t requests;
  std::int64_t rows;  ///< of one KV head: tokens·group; row r is token r / group, head r % group of the group
};

/// The kernels of attention on a backend: its static member template run<Contract>(exec, call, schedule), where there
/// is at least one token, head and value element.
template <class Exec>
struct AttentionKernels {
  static_assert(!sizeof(Exec), "Invar: no kernels of attention for this execution space");
};

}  // namespace detail

/// out(t, h, ·) = Σ_p softmax_p(scale·q(t, h, ·)·k(p, h', ·))·v(p, h', ·), where p runs over the positions that query t
/// may see in its own request's sequence, and h' = h / (heads / kv_heads) is the KV head of query head h (GQA, MQA).
///
/// The queries of request r are tokens query_begin(r) … query_begin(r + 1) − 1, and stand at the last positions of its
/// sequence of kv_length(r) positions, whose keys and values are in the cache already. So one query is a decode step,
/// as many as the sequence is long a whole prefill, anything between a chunk; a token's bits are the same in each.
///
/// \tparam Contract  fixes the bits; contract::Attention<ieee, 128, 1024> unless named; its text states every rounding
/// \param exec  runs asynchronously in this instance
/// \param out   [tokens, heads, value_dim], any supported type; all of it is written. [out]
/// \param q     [tokens, heads, head_dim]; float, bfloat16_t or float16_t, computed in float. [in]
/// \param kv    ContiguousKv or PagedKv. What lies beyond a request's length is never read. [in]
/// \param query_begin  [requests + 1], integers, ascending; tokens outside give zeros. [in]
/// \param kv_length    [requests], integers; taken as the cache's capacity where it is more. [in]
/// \param options   scale and mask
/// \param schedule  one of schedule::attention_table, or null to let the shape choose; never changes the bits
/// \throws invar::error  on wrong extents, a head dimension above 256, a scale that is not positive and finite, heads
/// that
///                       are no multiple of the KV heads, or where out overlaps an input
///
/// A query that sees nothing gives +0. A score of +∞ or NaN makes the row NaN; one of −∞ counts as masked.
template <class Contract = contract::DefaultAttention, ExecutionSpace Exec, ViewOfRank<3> Out, ViewOfRank<3> Q,
          class Kv, ViewOfRank<1> Begin, ViewOfRank<1> Length>
void attention(const Exec& exec, const Out& out, const Q& q, const Kv& kv, const Begin& query_begin,
               const Length& kv_length, const AttentionOptions& options = {},
               const schedule::Attention* schedule = nullptr) {
  static_assert(contract::is_attention_v<Contract>, "Invar: attention takes a contract::Attention");
  static_assert(std::is_integral_v<typename Begin::non_const_value_type> &&
                    std::is_integral_v<typename Length::non_const_value_type>,
                "Invar: attention: query_begin and kv_length hold integers");
  using namespace detail;
  using Scalar = num::accumulator_t<typename Q::non_const_value_type>;
  static_assert(!std::is_same_v<Scalar, double>, "Invar: attention: double is not supported; exp2 is a float function");
  check_output<Exec>("attention", "out", out);
  check_input<Exec, Q>();
  check_input<Exec, decltype(kv.k)>();
  check_input<Exec, decltype(kv.v)>();
  check_view<Exec, Begin>();
  check_view<Exec, Length>();
  kv.check("attention");
  const auto tokens = static_cast<std::int64_t>(q.extent(0));
  const auto heads = static_cast<int>(q.extent(1));
  const auto head_dim = static_cast<int>(q.extent(2));
  const auto kv_heads = static_cast<int>(kv.k.extent(2));
  const auto value_dim = static_cast<int>(kv.v.extent(3));
  const auto requests = static_cast<std::int64_t>(kv_length.extent(0));
  require_extent("attention", "out", out, 0, tokens);
  require_extent("attention", "out", out, 1, heads);
  require_extent("attention", "out", out, 2, value_dim);
  require_extent("attention", "k", kv.k, 3, head_dim);
  require_extent("attention", "query_begin", query_begin, 0, requests + 1);
  if (kv.requests() != requests)
    throw error("attention", "kv requests", std::to_string(requests), std::to_string(kv.requests()));
  if (kv_heads == 0 ? heads != 0 : heads % kv_heads != 0)
    throw error("attention", "q extent 1", "a multiple of the " + std::to_string(kv_heads) + " KV heads",
                std::to_string(heads));
  if (head_dim > attention_max_head_dim || value_dim > attention_max_head_dim)
    throw error("attention", "head dimension", "at most " + std::to_string(attention_max_head_dim),
                std::to_string(head_dim > value_dim ? head_dim : value_dim));
  const float scale =
      options.scale == 0.0f ? 1.0f / num::sqrt(static_cast<float>(head_dim > 0 ? head_dim : 1)) : options.scale;
  if (!(scale > 0.0f) || !std::isfinite(scale))
    throw error("attention", "scale", "a positive finite number", std::to_string(scale));
  require_disjoint("attention", "out", out, "q", q);
  require_disjoint("attention", "out", out, "k", kv.k);
  require_disjoint("attention", "out", out, "v", kv.v);
  if (tokens == 0 || heads == 0 || value_dim == 0) return;

  const int group = heads / kv_heads;
  const std::int64_t rows = tokens * group;
  if (schedule == nullptr) schedule = &schedule::choose_attention(exec, rows, kv_heads, requests);
  const Scalar scale_log2(num::mul(scale, 1.44269504088896340736f));
  const AttentionCall<Out, Q, Kv, Begin, Length, Scalar> call{
      out,      q,     kv,       query_begin, kv_length, scale_log2, options.causal,
      kv_heads, group, head_dim, value_dim,   requests,  rows};
  AttentionKernels<Exec>::template run<Contract>(exec, call, *schedule);
}

}  // namespace invar

#include <invar/backends/host/attention.hpp>
#ifdef KOKKOS_ENABLE_CUDA
#include <invar/backends/cuda/attention.hpp>
#endif

#endif
