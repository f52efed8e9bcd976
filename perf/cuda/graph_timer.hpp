// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How GPU work is timed: captured in a CUDA graph, so that launch gaps do not hide the kernels, and replayed after the
// second-level cache has been emptied by reading, which leaves no dirty lines behind.
#ifndef INVAR_PERF_CUDA_GRAPH_TIMER_HPP
#define INVAR_PERF_CUDA_GRAPH_TIMER_HPP

#include "cold_cache.hpp"

#include <benchmark/benchmark.h>
#include <Kokkos_Core.hpp>

#include <cstdint>

namespace invar::perf {

/// `count` calls of call(exec, i), captured once; a call may work on its own operands, so that none finds them cached.
class GraphTimer {
 public:
  template <class Call>
  GraphTimer(int count, const Call& call) : count_(count) {
    const Kokkos::Cuda exec = stream_.exec();
    call(exec, 0);
    exec.fence();
    check(cudaStreamBeginCapture(stream_.get(), cudaStreamCaptureModeRelaxed));
    for (int i = 0; i < count; ++i) call(exec, i);
    check(cudaStreamEndCapture(stream_.get(), &graph_));
    check(cudaGraphInstantiate(&instance_, graph_, 0));
    check(cudaEventCreate(&begin_));
    check(cudaEventCreate(&end_));
    (void)seconds();  // uploads the graph
  }
  ~GraphTimer() {
    (void)cudaGraphExecDestroy(instance_);
    (void)cudaGraphDestroy(graph_);
    (void)cudaEventDestroy(begin_);
    (void)cudaEventDestroy(end_);
  }
  GraphTimer(const GraphTimer&) = delete;
  GraphTimer& operator=(const GraphTimer&) = delete;

  /// One replay from a cold cache: seconds per call.
  double seconds() const {
    flush_.run(stream_.exec());
    check(cudaEventRecord(begin_, stream_.get()));
    check(cudaGraphLaunch(instance_, stream_.get()));
    check(cudaEventRecord(end_, stream_.get()));
    check(cudaEventSynchronize(end_));
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin_, end_));
    return 1e-3 * milliseconds / count_;
  }

 private:
  Stream stream_;
  CacheFlush flush_;
  int count_;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t instance_ = nullptr;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

/// Calls to put into one graph, each with operands of its own: enough for the graph's own start, 3 µs, to weigh little.
inline int calls_for(double bytes) { return bytes < 32e6 ? 20 : bytes < 600e6 ? static_cast<int>(600e6 / bytes) : 1; }

/// Runs a timer as a benchmark's iterations.
inline void measure(benchmark::State& state, const GraphTimer& timer, double bytes) {
  for (auto _ : state) state.SetIterationTime(timer.seconds());
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes) * state.iterations());
}

/// The median of 15 replays.
inline void median_of_replays(benchmark::internal::Benchmark* benchmark) {
  benchmark->UseManualTime()->Unit(benchmark::kMicrosecond)->Iterations(1)->Repetitions(15)->ReportAggregatesOnly(true);
}

}  // namespace invar::perf

#endif
