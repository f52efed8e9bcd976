// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Attention on hosts: how its tiles come to threads.
#ifndef INVAR_BACKENDS_HOST_ATTENTION_HPP
#define INVAR_BACKENDS_HOST_ATTENTION_HPP

#include <invar/backends/host/attention_tiles.hpp>
#include <invar/op/attention.hpp>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>

namespace invar::backends::host::attention {

/// Memory of a team: results of splits, then each thread's own.
template <class TilesOfCall>
struct TeamMemory {
  using scalar = typename TilesOfCall::scalar;
  static constexpr int alignment = 64;

  std::int64_t result_size, thread_size;  // scalars; multiples of a cache line
  int results;

  TeamMemory(const TilesOfCall& tiles, int wanted_results)
      : result_size(rounded(tiles.result_size())), thread_size(rounded(tiles.thread_size())), results(wanted_results) {}

  std::size_t bytes(int threads) const {
    return static_cast<std::size_t>(results * result_size + threads * thread_size) * sizeof(scalar) + alignment;
  }
  scalar* result(scalar* memory, std::int64_t i) const { return memory + alignment / sizeof(scalar) + i * result_size; }
  scalar* thread(scalar* memory, int rank) const { return result(memory, results) + rank * thread_size; }

 private:
  static std::int64_t rounded(std::int64_t size) { return (size + 15) / 16 * 16; }
};

/// A team's memory, aligned to cache lines. Taken once: every request for scratch gets new memory.
template <class scalar, class Member, class Memory>
inline scalar* scratch(const Member& member, const Memory& memory) {
  return static_cast<scalar*>(
      member.team_scratch(1).get_shmem_aligned(memory.bytes(member.team_size()), Memory::alignment));
}

/// Tiles that a single thread computes, split after split.
template <class TilesOfCall>
struct ThreadTask {
  using scalar = typename TilesOfCall::scalar;
  TilesOfCall tiles;
  TeamMemory<TilesOfCall> memory;

  template <class Member>
  void operator()(const Member& member) const {
    scalar* const base = scratch<scalar>(member, memory);
    scalar* const own = memory.thread(base, 0);
    scalar* const total = memory.result(base, 0);
    scalar* const later = memory.result(base, 1);
    tiles.each_tile(member.league_rank(), [&](const auto& tile) {
      tiles.load_query(tile, own);
      for (std::int64_t split = 0; split < tile.splits; ++split) {
        tiles.split(tile, split, own, split == 0 ? total : later);
        if (split > 0) tiles.fold(tile, total, later, split);
      }
      tiles.finish(tile, total);
    });
  }
};

/// All tiles of a team's parts, of which every thread takes the next split that nobody has.
///
/// The splits of all tiles are numbered through. A window of them, as many as there is memory for, is computed; then
/// the threads fold them, tile by tile. A tile that goes on in the next window leaves its total behind.
template <class TilesOfCall>
struct TeamTask {
  using scalar = typename TilesOfCall::scalar;
  TilesOfCall tiles;
  TeamMemory<TilesOfCall> memory;  // the last two results are totals that windows leave behind

  template <class Member>
  void operator()(const Member& member) const {
    scalar* const base = scratch<scalar>(member, memory);
    // In the gap in front of the results: the next split to be taken. An integer; who computes a split, and when, never
    // reaches the order in which they are folded.
    auto* const ticket = reinterpret_cast<std::int64_t*>(base);
    const auto take = [&] { return Kokkos::atomic_fetch_add(ticket, std::int64_t{1}); };
    const std::int64_t window = memory.results - 2;
    std::int64_t end = window;
    for (std::int64_t begin = 0; begin < end; begin += window) {
      if (member.team_rank() == 0) *ticket = begin;
      member.team_barrier();
      const std::int64_t all = compute(member, base, begin, begin + window, take);
      end = all;
      member.team_barrier();
      fold(member, base, begin, std::min(all, begin + window));
      member.team_barrier();
    }
  }

 private:
  template <class Member, class Use>
  void each_tile(const Member& member, const Use& use) const {
    std::int64_t split = 0;  // the tile's first
    for (std::int64_t part = member.league_rank(); part < tiles.parts(); part += member.league_size())
      tiles.each_tile(part, [&](const auto& tile) {
        use(tile, split);
        split += tile.splits;
      });
  }

  /// Returns the number of all splits.
  template <class Member, class Take>
  std::int64_t compute(const Member& member, scalar* base, std::int64_t begin, std::int64_t end,
                       const Take& take) const {
    scalar* const own = memory.thread(base, member.team_rank());
    std::int64_t mine = take();
    std::int64_t all = 0;
    each_tile(member, [&](const auto& tile, std::int64_t first) {
      all = first + tile.splits;
      bool loaded = false;
      for (; mine < end && mine < all; mine = take()) {
        if (!loaded) tiles.load_query(tile, own);
        loaded = true;
        tiles.split(tile, mine - first, own, memory.result(base, mine - begin));
      }
    });
    return all;
  }

  template <class Member>
  void fold(const Member& member, scalar* base, std::int64_t begin, std::int64_t end) const {
    // A tile may end in this window while another one, which another thread folds, goes on: totals take turns.
    const std::int64_t window = memory.results - 2;
    const std::int64_t turn_of_window = begin / window % 2;
    scalar* const inherited = memory.result(base, window + 1 - turn_of_window);
    scalar* const left_behind = memory.result(base, window + turn_of_window);
    int turn = 0;
    each_tile(member, [&](const auto& tile, std::int64_t first) {
      const std::int64_t all = first + tile.splits;
      if (first >= end || all <= begin || turn++ % member.team_size() != member.team_rank()) return;
      scalar* total = inherited;
      std::int64_t next = std::max(first, begin);
      if (first >= begin) total = memory.result(base, next++ - begin);
      for (; next < std::min(all, end); ++next)
        tiles.fold(tile, total, memory.result(base, next - begin), next - first);
      if (all <= end)
        tiles.finish(tile, total);
      else
        std::copy(total, total + memory.result_size, left_behind);
    });
  }
};

/// The kernels of attention on a host.
template <class Exec>
struct Kernels {
  template <class Contract, class Call>
  static void run(const Exec& exec, const Call& call, const schedule::Attention& chosen) {
    run_problem<Contract>(exec, problem_of(call), chosen);
  }

 private:
  template <class Contract, class ProblemOfCall>
  static void run_problem(const Exec& exec, const ProblemOfCall& problem, const schedule::Attention& chosen) {
    using TilesOfCall = Tiles<Contract, ProblemOfCall>;
    const TilesOfCall tiles(problem, chosen, schedule::Backend<Exec>::workers(exec));
    const int team = schedule::Backend<Exec>::team_size(exec, chosen.team_size);
    if (team == 1) {
      const TeamMemory<TilesOfCall> memory(tiles, 2);
      launch(exec, tiles.parts(), 1, memory, ThreadTask<TilesOfCall>{tiles, memory});
    } else {
      constexpr std::int64_t most_bytes = std::int64_t{4} << 20;  // of results, where a thread has at least one
      const auto fit =
          most_bytes / (tiles.result_size() * static_cast<std::int64_t>(sizeof(typename TilesOfCall::scalar)));
      const auto window = std::max<std::int64_t>(team, std::min<std::int64_t>(16 * team, fit));
      const TeamMemory<TilesOfCall> memory(tiles, static_cast<int>(window) + 2);
      const int teams = std::max(1, schedule::Backend<Exec>::workers(exec) / team);
      launch(exec, std::min<std::int64_t>(teams, tiles.parts()), team, memory, TeamTask<TilesOfCall>{tiles, memory});
    }
  }

  template <class Memory, class Task>
  static void launch(const Exec& exec, std::int64_t league, int team, const Memory& memory, const Task& task) {
    // Tiles differ in their number of visible positions, so threads that are done take over from others.
    using Policy = Kokkos::TeamPolicy<Exec, Kokkos::Schedule<Kokkos::Dynamic>>;
    Policy policy(exec, static_cast<int>(league), team);
    policy.set_chunk_size(1);
    policy.set_scratch_size(1, Kokkos::PerTeam(static_cast<int>(memory.bytes(team) + Memory::alignment)));
    Kokkos::parallel_for("Invar::attention", policy, task);
  }
};

}  // namespace invar::backends::host::attention

namespace invar::detail {

#ifdef KOKKOS_ENABLE_OPENMP
template <>
struct AttentionKernels<Kokkos::OpenMP> : backends::host::attention::Kernels<Kokkos::OpenMP> {};
#endif
#ifdef KOKKOS_ENABLE_SERIAL
template <>
struct AttentionKernels<Kokkos::Serial> : backends::host::attention::Kernels<Kokkos::Serial> {};
#endif
#ifdef KOKKOS_ENABLE_THREADS
template <>
struct AttentionKernels<Kokkos::Threads> : backends::host::attention::Kernels<Kokkos::Threads> {};
#endif

}  // namespace invar::detail

#endif
