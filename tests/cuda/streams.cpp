// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Work on several streams at once, and work recorded in a CUDA graph.
#include "support/device_calls.hpp"

#include <doctest/doctest.h>

using namespace invar::test;

namespace {

/// A set of calls for each instance.
std::vector<DeviceCalls> sets_of_calls() {
  std::vector<DeviceCalls> sets;
  for (std::size_t i = 0; i < executions().size(); ++i) sets.push_back(device_calls());
  return sets;
}

void fill(const std::vector<DeviceCalls>& sets, std::uint64_t seed) {
  for (const DeviceCalls& set : sets)
    for (const auto& call : set) call->fill(seed += 100);
}

void check(const DeviceCall& call) {
  const auto comparison = call.compare();
  CHECK_MESSAGE(static_cast<bool>(comparison), call.name() << ": " << comparison.message);
}

/// A recorded graph, ready to be launched.
class Graph {
 public:
  template <class Work>
  Graph(const Execution& exec, const Work& work) {
    // The strictest mode: no call that might wait or allocate is let through, from any thread.
    REQUIRE(cudaStreamBeginCapture(exec.cuda_stream(), cudaStreamCaptureModeGlobal) == cudaSuccess);
    work();
    cudaGraph_t graph = nullptr;
    const cudaError_t ended = cudaStreamEndCapture(exec.cuda_stream(), &graph);
    REQUIRE_MESSAGE(ended == cudaSuccess, cudaGetErrorString(ended));
    REQUIRE(cudaGraphInstantiate(&ready_, graph, 0) == cudaSuccess);
    REQUIRE(cudaGraphDestroy(graph) == cudaSuccess);
  }
  ~Graph() { (void)cudaGraphExecDestroy(ready_); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  void launch(const Execution& exec) const { REQUIRE(cudaGraphLaunch(ready_, exec.cuda_stream()) == cudaSuccess); }

 private:
  cudaGraphExec_t ready_ = nullptr;
};

}  // namespace

TEST_CASE("one operation on several streams at once") {
  const auto sets = sets_of_calls();
  fill(sets, 1);
  for (std::size_t c = 0; c < sets[0].size(); ++c) {
    for (int round = 0; round < 8; ++round)
      for (std::size_t s = 0; s < sets.size(); ++s) sets[s][c]->run(executions()[s]);
    for (const DeviceCalls& set : sets) check(*set[c]);
  }
}

TEST_CASE("different operations on several streams at once") {
  const auto sets = sets_of_calls();
  const std::size_t count = sets[0].size();
  fill(sets, 2);
  for (int round = 0; round < 3; ++round)
    for (std::size_t c = 0; c < count; ++c)
      for (std::size_t s = 0; s < sets.size(); ++s) sets[s][(c + 5 * s) % count]->run(executions()[s]);
  for (const DeviceCalls& set : sets)
    for (const auto& call : set) check(*call);
}

TEST_CASE("every operation can be recorded in a graph and replayed with other inputs") {
  const Execution& exec = executions().back();
  for (const auto& call : device_calls()) {
    CAPTURE(call->name());
    call->fill(3);
    call->run(exec);  // what is set up once is set up here
    exec.fence();
    call->fill(4);
    const Graph graph(exec, [&] { call->run(exec); });
    CHECK_FALSE(static_cast<bool>(call->compare()));  // recorded, not run
    for (int replay = 0; replay < 3; ++replay) {
      call->fill(5 + 100 * replay);
      graph.launch(exec);
      check(*call);
    }
    call->fill(6);
    CHECK_FALSE(static_cast<bool>(call->compare()));  // the comparison sees what has not been computed
  }
}

TEST_CASE("all operations in one graph, replayed on two streams in turn") {
  const Execution& exec = executions().back();
  const auto calls = device_calls();
  for (const auto& call : calls) call->run(exec);
  exec.fence();
  const Graph graph(exec, [&] {
    for (const auto& call : calls) call->run(exec);
  });
  for (const Execution& other : executions()) {
    for (const auto& call : calls) call->fill(7 + 100 * other.impl_instance_id());
    graph.launch(other);
    other.fence();
    for (const auto& call : calls) check(*call);
  }
}
