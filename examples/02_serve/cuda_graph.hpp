// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// A CUDA graph of what is launched on a Kokkos instance.
#ifndef SERVE_CUDA_GRAPH_HPP
#define SERVE_CUDA_GRAPH_HPP

#include <Kokkos_Core.hpp>

#include <stdexcept>
#include <string>

namespace serve {

class CudaGraph {
 public:
  CudaGraph() = default;
  ~CudaGraph() {
    if (recorded()) (void)cudaGraphExecDestroy(executable_);
  }
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;

  bool recorded() const { return executable_ != nullptr; }

  /// Records what work() launches on exec's stream, without running it. The work must not allocate Kokkos views, wait,
  /// or look at results.
  template <class Work>
  void record(const Kokkos::Cuda& exec, const Work& work) {
    const cudaStream_t stream = exec.cuda_stream();
    cudaGraph_t graph = nullptr;
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    try {
      work();
    } catch (...) {
      if (cudaStreamEndCapture(stream, &graph) == cudaSuccess) (void)cudaGraphDestroy(graph);
      throw;
    }
    check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
    const cudaError_t status = cudaGraphInstantiateWithFlags(&executable_, graph, 0);
    (void)cudaGraphDestroy(graph);
    check(status, "cudaGraphInstantiate");
  }

  /// Runs it, in stream order.
  void replay(const Kokkos::Cuda& exec) const {
    check(cudaGraphLaunch(executable_, exec.cuda_stream()), "cudaGraphLaunch");
  }

 private:
  static void check(cudaError_t status, const char* what) {
    if (status != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
  }

  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace serve

#endif
