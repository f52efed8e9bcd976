// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How perf/tune times its contenders: on a GPU by events and graph replays, on a host by the clock.
#ifndef INVAR_PERF_TUNE_TIMER_HPP
#define INVAR_PERF_TUNE_TIMER_HPP

#include "support/turns.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#ifdef KOKKOS_ENABLE_CUDA
#include "cuda/matrix_unit_turns.hpp"
#endif

namespace invar::perf {

/// Contenders on a host take turns; the cache is emptied by reading before each.
class HostTurns {
 public:
  using Exec = Kokkos::DefaultHostExecutionSpace;
  const Exec& exec() const { return exec_; }

  double once(const Call& call) {
    flush();
    return microseconds([&] { call(0); });
  }

  std::vector<Figure> measure(const std::vector<Call>& calls, int copies) {
    for (const Call& call : calls) call(0);
    const double about = once(calls[0]);
    const int rounds = about < 2e4 ? 11 : 3;
    const int in_a_row = std::clamp(static_cast<int>(2e4 / about), 1, std::max(8, copies));
    const auto cold = in_turns(calls.size(), rounds, [&](std::size_t i) { return once(calls[i]); });
    const auto rotated = in_turns(calls.size(), rounds, [&](std::size_t i) {
      return microseconds([&] {
               for (int repeat = 0; repeat < in_a_row; ++repeat) calls[i](repeat % copies);
             }) /
             in_a_row;
    });
    std::vector<Figure> figures;
    for (std::size_t i = 0; i < calls.size(); ++i) figures.push_back({cold[i], rotated[i]});
    return figures;
  }

 private:
  template <class Work>
  double microseconds(const Work& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    exec_.fence();
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
  }
  void flush() {
    std::uint64_t seen = 0;
    const auto data = data_;
    Kokkos::parallel_reduce(
        "flush", Kokkos::RangePolicy<Exec>(exec_, 0, data.extent(0)),
        [=](std::size_t i, std::uint64_t& sum) { sum += data(i); }, seen);
    sink_ = sink_ + seen;
  }

  Exec exec_;
  Kokkos::View<std::uint64_t*, Kokkos::HostSpace> data_{"flush", std::size_t{8} << 20};
  volatile std::uint64_t sink_ = 0;
};

#ifdef KOKKOS_ENABLE_CUDA
using DeviceTurns = Turns;
#else
using DeviceTurns = HostTurns;
#endif

}  // namespace invar::perf

#endif
