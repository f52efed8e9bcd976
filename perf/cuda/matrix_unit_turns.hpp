// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Contenders that take turns on one stream, so that the device's heat and clock fall on all of them alike. In each
// round they come in an order drawn anew, so that none always follows another.
#ifndef INVAR_PERF_CUDA_MATRIX_UNIT_TURNS_HPP
#define INVAR_PERF_CUDA_MATRIX_UNIT_TURNS_HPP

#include "cold_cache.hpp"

#include "support/turns.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>
#include <vector>

namespace invar::perf {

/// Calls in a row, captured once.
class Graph {
 public:
  Graph(cudaStream_t stream, const Call& call, int calls, int copies) : stream_(stream) {
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    for (int i = 0; i < calls; ++i) call(i % copies);
    check(cudaStreamEndCapture(stream, &graph_));
    check(cudaGraphInstantiate(&instance_, graph_, 0));
  }
  ~Graph() {
    if (instance_ != nullptr) (void)cudaGraphExecDestroy(instance_);
    if (graph_ != nullptr) (void)cudaGraphDestroy(graph_);
  }
  Graph(Graph&& other) noexcept
      : stream_(other.stream_),
        graph_(std::exchange(other.graph_, nullptr)),
        instance_(std::exchange(other.instance_, nullptr)) {}
  Graph& operator=(Graph&&) = delete;
  void launch() const { check(cudaGraphLaunch(instance_, stream_)); }

  /// The kernels in it, and all that is not a kernel only counted.
  std::vector<cudaGraphNode_t> kernels(int& others) const {
    std::size_t count = 0;
    check(cudaGraphGetNodes(graph_, nullptr, &count));
    std::vector<cudaGraphNode_t> nodes(count);
    check(cudaGraphGetNodes(graph_, nodes.data(), &count));
    std::erase_if(nodes, [](cudaGraphNode_t node) {
      cudaGraphNodeType type{};
      check(cudaGraphNodeGetType(node, &type));
      return type != cudaGraphNodeTypeKernel;
    });
    others = static_cast<int>(count - nodes.size());
    return nodes;
  }

 private:
  cudaStream_t stream_;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t instance_ = nullptr;
};

class Turns {
 public:
  Turns() {
    check(cudaEventCreate(&begin_));
    check(cudaEventCreate(&end_));
  }
  ~Turns() {
    (void)cudaEventDestroy(begin_);
    (void)cudaEventDestroy(end_);
  }
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;
  const Kokkos::Cuda& exec() const { return exec_; }
  cudaStream_t stream() const { return stream_.get(); }

  /// What each call takes cold, by a single and rough measurement.
  double once(const Call& call) {
    flush_.run(exec_);
    return events([&] { call(0); });
  }

  /// What each call takes, with so many copies of its weights. Work of milliseconds takes fewer turns.
  std::vector<Figure> measure(const std::vector<Call>& calls, int copies) {
    for (const Call& call : calls) call(0);
    const double about = 1e-3 * events([&] { calls[0](0); });  // milliseconds
    const std::vector<double> cold = in_turns(calls.size(), about < 0.2 ? 31 : 13, [&](std::size_t i) {
      flush_.run(exec_);
      return events([&] { calls[i](0); });
    });
    const int in_a_row = std::clamp(static_cast<int>(3 / about), 4, std::max(24, copies));
    std::vector<Graph> graphs;
    for (const Call& call : calls) graphs.emplace_back(stream(), call, in_a_row, copies);
    for (const Graph& graph : graphs) graph.launch();
    const std::vector<double> rotated = in_turns(calls.size(), about < 0.2 ? 11 : 7, [&](std::size_t i) {
      return events([&] { graphs[i].launch(); }) / in_a_row;
    });
    std::vector<Figure> figures;
    for (std::size_t i = 0; i < calls.size(); ++i) figures.push_back({cold[i], rotated[i]});
    return figures;
  }

  /// The one of the calls that is fastest, by few measurements; 0 where there is none.
  std::size_t fastest(const std::vector<Call>& calls, int copies) {
    if (calls.size() < 2) return 0;
    const auto times = in_turns(calls.size(), 4, [&](std::size_t i) {
      const auto many = [&] {
        for (int copy = 0; copy < std::min(copies, 8); ++copy) calls[i](copy);
      };
      flush_.run(exec_);
      const double cold = events([&] { calls[i](0); });
      return cold + events(many) / std::min(copies, 8);
    });
    return static_cast<std::size_t>(std::min_element(times.begin(), times.end()) - times.begin());
  }

  /// Microseconds of the host for a call that only launches.
  std::vector<double> host(const std::vector<Call>& calls) {
    constexpr int in_a_row = 200;  // so few that the queue of launches never fills
    for (const Call& call : calls) call(0);
    return in_turns(calls.size(), 25, [&](std::size_t i) {
      exec_.fence();
      const auto begin = std::chrono::steady_clock::now();
      for (int repeat = 0; repeat < in_a_row; ++repeat) calls[i](0);
      const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin;
      return time.count() / in_a_row;
    });
  }

 private:
  /// Microseconds on the device.
  template <class Work>
  double events(const Work& work) {
    check(cudaEventRecord(begin_, stream()));
    work();
    check(cudaEventRecord(end_, stream()));
    check(cudaEventSynchronize(end_));
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin_, end_));
    return 1e3 * milliseconds;
  }

  Stream stream_;
  Kokkos::Cuda exec_ = stream_.exec();
  CacheFlush flush_;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

}  // namespace invar::perf

#endif
