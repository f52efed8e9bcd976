// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Attention over a KV cache, for decode, chunked prefill and whole prefill in one call.
#ifndef INVAR_OP_ATTENTION_HPP
#define INVAR_OP_ATTENTION_HPP

#include <invar/contract/defaults.hpp>
#include <invar/op/kv_cache.hpp>
#include <invar/schedule/attention.hpp>
#include <invar/tree/aligned.hpp>
#include <invar/tree/online_softmax.hpp>
#include <invar/view.hpp>

#include <algorithm>
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

/// One task: up to attention_max_rows query rows of one KV head. A row is (token, head of the group).
template <class Contract, class Out, class Q, class Kv, class Begin, class Length>
struct AttentionTask {
  using scalar = num::accumulator_t<typename Q::non_const_value_type>;
  using Sums = tree::SplitSums<scalar>;
  static constexpr int max_rows = schedule::attention_max_rows;
  static constexpr int panel = Contract::block < 64 ? Contract::block : 64;  // positions packed at a time; schedule
  static constexpr int max_dim = attention_max_head_dim;

  Out out;
  Q q;
  Kv kv;
  Begin query_begin;
  Length kv_length;
  scalar scale;
  bool causal;
  int group, head_dim, value_dim;
  std::int64_t capacity;
  std::int64_t requests;
  std::int64_t row_count;
  int rows_per_task;
  int scratch_level;

  /// A value's width in scratch, padded to whole register tiles.
  KOKKOS_FUNCTION static constexpr int padded(int dim) { return (dim + panel - 1) / panel * panel; }
  /// Scalars of one set of partial results.
  KOKKOS_FUNCTION std::int64_t set_size() const { return max_rows * (2 + padded(value_dim)); }
  /// Scratch of a team: one set for the total, and one for each thread's split.
  KOKKOS_FUNCTION std::size_t scratch_bytes(int team_size) const {
    return static_cast<std::size_t>((team_size + 1) * set_size()) * sizeof(scalar);
  }

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member) const {
    // Taken once: every request for scratch gets new memory.
    auto* const scratch = static_cast<scalar*>(
        member.team_scratch(scratch_level).get_shmem_aligned(scratch_bytes(member.team_size()), alignof(double)));
    const std::int64_t chunks = tree::leaf_count(row_count, rows_per_task);
    const int kv_head = static_cast<int>(member.league_rank() / chunks);
    const std::int64_t first = (member.league_rank() % chunks) * rows_per_task;
    const std::int64_t end = first + rows_per_task < row_count ? first + rows_per_task : row_count;
    for (std::int64_t row = first; row < end;) {
      const std::int64_t request = request_of(row / group);
      std::int64_t stop = row + 1;
      while (stop < end && request_of(stop / group) == request) ++stop;
      run(member, scratch, kv_head, request, row, static_cast<int>(stop - row));
      row = stop;
    }
  }

 private:
  struct Rows {
    int count;
    std::int64_t visible[max_rows];
    std::int64_t longest;
  };

  /// The request that a token belongs to, or −1 for a token outside all of them.
  KOKKOS_FUNCTION std::int64_t request_of(std::int64_t token) const {
    std::int64_t low = 0;
    std::int64_t high = requests + 1;  // first index whose query_begin exceeds token
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      if (static_cast<std::int64_t>(query_begin(middle)) <= token)
        low = middle + 1;
      else
        high = middle;
    }
    return low > requests ? -1 : low - 1;
  }

  /// The rows' visible positions: a prefix of the sequence.
  KOKKOS_FUNCTION Rows look(std::int64_t request, std::int64_t row, int count) const {
    Rows rows;
    rows.count = count;
    rows.longest = 0;
    for (int r = 0; r < count; ++r) {
      std::int64_t visible = 0;
      if (request >= 0) {
        const std::int64_t given = static_cast<std::int64_t>(kv_length(request));
        const std::int64_t length = given < capacity ? given : capacity;
        // The request's last query stands at the sequence's last position.
        const std::int64_t from_last = static_cast<std::int64_t>(query_begin(request + 1)) - 1 - (row + r) / group;
        visible = causal ? length - from_last : length;
        if (visible < 0) visible = 0;
      }
      rows.visible[r] = visible;
      if (visible > rows.longest) rows.longest = visible;
    }
    return rows;
  }

  template <class Member>
  KOKKOS_FUNCTION void run(const Member& member, scalar* scratch, int kv_head, std::int64_t request, std::int64_t row,
                           int count) const {
    const Rows rows = look(request, row, count);
    const std::int64_t splits = tree::leaf_count(rows.longest, Contract::split);
    const int width = padded(value_dim);
    const int workers = member.team_size();
    const std::int64_t size = set_size();
    scalar* const total = scratch;
    scalar* const partial = scratch + size;

    for (std::int64_t split = 0; split < splits; split += workers) {
      const int batch = static_cast<int>(split + workers < splits ? workers : splits - split);
      Kokkos::parallel_for(Kokkos::TeamThreadRange(member, batch),
                           [&](int w) { split_of(kv_head, request, row, rows, split + w, partial + w * size); });
      member.team_barrier();
      Kokkos::parallel_for(Kokkos::TeamThreadRange(member, count), [&](int r) {
        for (int w = 0; w < batch; ++w)
          if (rows.visible[r] > (split + w) * Contract::split)
            take(total, partial + w * size, r, width, split + w == 0);
      });
      member.team_barrier();
    }
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, count), [&](int r) {
      write(row + r, kv_head, rows.visible[r], total + 2 * r, total + 2 * max_rows + r * width);
    });
    member.team_barrier();
  }

  /// Folds one split of one row into the total; the first starts it.
  KOKKOS_FUNCTION static void take(scalar* total, const scalar* split, int r, int width, bool first) {
    scalar* const total_out = total + 2 * max_rows + r * width;
    const scalar* const split_out = split + 2 * max_rows + r * width;
    if (first) {
      total[2 * r] = split[2 * r];
      total[2 * r + 1] = split[2 * r + 1];
      for (int d = 0; d < width; ++d) total_out[d] = split_out[d];
    } else {
      Sums sums{total[2 * r], total[2 * r + 1]};
      tree::fold_split(sums, total_out, Sums{split[2 * r], split[2 * r + 1]}, split_out, width);
      total[2 * r] = sums.max;
      total[2 * r + 1] = sums.sum;
    }
  }

  /// Steps 1 to 5 of the contract for one split of all rows: (m, l) pairs, then outputs, into `result`.
  KOKKOS_FUNCTION void split_of(int kv_head, std::int64_t request, std::int64_t row, const Rows& rows,
                                std::int64_t split, scalar* result) const {
    const int width = padded(value_dim);
    scalar* const outputs = result + 2 * max_rows;
    scalar query[max_rows][max_dim];
    scalar score[max_rows][Contract::block];
    scalar packed[panel * max_dim];
    tree::RowSoftmax<Contract, scalar> state[max_rows];
    for (int r = 0; r < rows.count; ++r) {
      const std::int64_t token = (row + r) / group;
      const int head = kv_head * group + static_cast<int>((row + r) % group);
      for (int d = 0; d < head_dim; ++d) query[r][d] = num::widen(typename Q::non_const_value_type(q(token, head, d)));
      for (int d = 0; d < width; ++d) outputs[r * width + d] = scalar(0);
      state[r].begin();
    }
    const std::int64_t begin = split * Contract::split;
    const std::int64_t end = begin + Contract::split < rows.longest ? begin + Contract::split : rows.longest;
    for (std::int64_t block = begin; block < end; block += Contract::block) {
      const int here = static_cast<int>(block + Contract::block < end ? Contract::block : end - block);
      for (int j0 = 0; j0 < here; j0 += panel) {
        pack_keys(packed, request, kv_head, block + j0, here - j0 < panel ? here - j0 : panel);
        for (int r = 0; r < rows.count; ++r) {
          for (int j = 0; j < panel; ++j) score[r][j0 + j] = scalar(0);
          tree::chain_tile<1, panel>(&score[r][j0], query[r], max_dim, packed, panel, head_dim);
        }
      }
      for (int r = 0; r < rows.count; ++r) {
        const int visible = visible_in_block(rows.visible[r], block);
        if (visible == 0) continue;
        const scalar alpha = state[r].block(score[r], visible, scale);
        for (int d = 0; d < width; ++d) outputs[r * width + d] = num::mul_unfenced(outputs[r * width + d], alpha);
      }
      for (int j0 = 0; j0 < here; j0 += panel) {
        pack_values(packed, request, kv_head, block + j0, here - j0 < panel ? here - j0 : panel, width);
        for (int r = 0; r < rows.count; ++r) {
          const int left = visible_in_block(rows.visible[r], block) - j0;
          const int depth = left < 0 ? 0 : (left < panel ? left : panel);
          for (int d0 = 0; d0 < width; d0 += panel)
            tree::chain_tile<1, panel>(outputs + r * width + d0, &score[r][j0], 0, packed + d0, width, depth);
        }
      }
    }
    for (int r = 0; r < rows.count; ++r) {
      const Sums sums = state[r].end();
      result[2 * r] = sums.max;
      result[2 * r + 1] = sums.sum;
    }
  }

  KOKKOS_FUNCTION static int visible_in_block(std::int64_t visible, std::int64_t block) {
    const std::int64_t left = visible - block;
    return static_cast<int>(left < 0 ? 0 : (left < Contract::block ? left : Contract::block));
  }

  /// Keys of `count` positions as [head_dim, panel], zeros behind them: their scores are computed and never used.
  KOKKOS_FUNCTION void pack_keys(scalar* packed, std::int64_t request, int kv_head, std::int64_t position,
                                 int count) const {
    for (int p = 0; p < panel; ++p) {
      if (p < count) {
        const auto key = kv.key(request, position + p, kv_head);
        for (int d = 0; d < head_dim; ++d) packed[d * panel + p] = key(d);
      } else {
        for (int d = 0; d < head_dim; ++d) packed[d * panel + p] = scalar(0);
      }
    }
  }

  /// Values of `count` positions as [count, width]; the padding columns are zero and never stored.
  KOKKOS_FUNCTION void pack_values(scalar* packed, std::int64_t request, int kv_head, std::int64_t position, int count,
                                   int width) const {
    for (int p = 0; p < count; ++p) {
      const auto value = kv.value(request, position + p, kv_head);
      for (int d = 0; d < value_dim; ++d) packed[p * width + d] = value(d);
      for (int d = value_dim; d < width; ++d) packed[p * width + d] = scalar(0);
    }
  }

  /// Step 7.
  KOKKOS_FUNCTION void write(std::int64_t row, int kv_head, std::int64_t visible, const scalar* sums,
                             const scalar* values) const {
    using T = typename Out::value_type;
    const std::int64_t token = row / group;
    const int head = kv_head * group + static_cast<int>(row % group);
    if (visible == 0) {
      for (int d = 0; d < value_dim; ++d) out(token, head, d) = num::narrow<T>(scalar(0));
      return;
    }
    const scalar factor = num::reciprocal_or_zero(sums[1]);
    for (int d = 0; d < value_dim; ++d) out(token, head, d) = num::narrow<T>(num::mul_unfenced(values[d], factor));
  }
};

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

/// The kernels of attention on a backend; this one is generic, and a backend with kernels of its own specialises it.
template <class Exec>
struct AttentionKernels {
  /// There is at least one token, head and value element.
  template <class Contract, class Out, class Q, class Kv, class Begin, class Length, class Scalar>
  static void run(const Exec& exec, const AttentionCall<Out, Q, Kv, Begin, Length, Scalar>& call,
                  const schedule::Attention& chosen) {
    const int rows_per_task = std::clamp(chosen.rows_per_task, 1, schedule::attention_max_rows);
    AttentionTask<Contract, Out, Q, Kv, Begin, Length> task{
        call.out,           call.q,        call.kv,    call.query_begin, call.kv_length,
        call.scale_log2,    call.causal,   call.group, call.head_dim,    call.value_dim,
        call.kv.capacity(), call.requests, call.rows,  rows_per_task,    0};
    const int team_size = schedule::Backend<Exec>::team_size(exec, chosen.team_size);
    Kokkos::TeamPolicy<Exec> policy(exec, static_cast<int>(tree::leaf_count(call.rows, rows_per_task) * call.kv_heads),
                                    team_size);
    const int scratch = static_cast<int>(task.scratch_bytes(team_size) + alignof(double));
    // The small, fast level where the partial results fit, the large one otherwise.
    task.scratch_level = scratch <= Kokkos::TeamPolicy<Exec>::scratch_size_max(0) ? 0 : 1;
    policy.set_scratch_size(task.scratch_level, Kokkos::PerTeam(scratch));
    Kokkos::parallel_for("Invar::attention", policy, task);
  }
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
  if (schedule == nullptr)
    schedule = &schedule::choose_attention(exec, rows, kv_heads, tree::leaf_count(kv.capacity(), Contract::split));
  const Scalar scale_log2(num::mul(scale, 1.44269504088896340736f));
  const AttentionCall<Out, Q, Kv, Begin, Length, Scalar> call{
      out,      q,     kv,       query_begin, kv_length, scale_log2, options.causal,
      kv_heads, group, head_dim, value_dim,   requests,  rows};
  AttentionKernels<Exec>::template run<Contract>(exec, call, *schedule);
}

}  // namespace invar

#ifdef KOKKOS_ENABLE_CUDA
#include <invar/backends/cuda/attention.hpp>
#endif

#endif
