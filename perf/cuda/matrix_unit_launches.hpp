// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Section "launches": what a call of the library costs the host, beside a bare launch of the same kernel with the same
// arguments, and what is left of it under graph replay.
#ifndef INVAR_PERF_CUDA_MATRIX_UNIT_LAUNCHES_HPP
#define INVAR_PERF_CUDA_MATRIX_UNIT_LAUNCHES_HPP

#include "matrix_unit_bench.hpp"
#include "matrix_unit_products.hpp"

#include <invar/op/matmul.hpp>

#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

namespace invar::perf {

inline constexpr double asked_of_launches = 2;  // microseconds above a bare launch

static __global__ void do_nothing() {}

/// A kernel as a graph holds it, launched without the graph. Its arguments live as long as the graph.
class BareLaunch {
 public:
  BareLaunch(cudaGraphNode_t node, cudaStream_t stream) {
    check(cudaGraphKernelNodeGetParams(node, &kernel_));
    config_.gridDim = kernel_.gridDim;
    config_.blockDim = kernel_.blockDim;
    config_.dynamicSmemBytes = kernel_.sharedMemBytes;
    config_.stream = stream;
    attributes_[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes_[0].val.programmaticStreamSerializationAllowed = 1;
    config_.numAttrs = 1;
    cudaLaunchAttributeValue cluster{};
    if (cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributeClusterDimension, &cluster) == cudaSuccess &&
        cluster.clusterDim.x > 1) {
      attributes_[1].id = cudaLaunchAttributeClusterDimension;
      attributes_[1].val = cluster;
      config_.numAttrs = 2;
    }
    (void)cudaGetLastError();
  }
  bool launch() const {
    cudaLaunchConfig_t config = config_;
    config.attrs = const_cast<cudaLaunchAttribute*>(attributes_);
    if (cudaLaunchKernelExC(&config, kernel_.func, kernel_.kernelParams) == cudaSuccess) return true;
    (void)cudaGetLastError();
    return false;
  }
  /// <<<>>> of an empty kernel over the same grid.
  void launch_empty() const { do_nothing<<<kernel_.gridDim, kernel_.blockDim, 0, config_.stream>>>(); }

 private:
  cudaKernelNodeParams kernel_{};
  cudaLaunchConfig_t config_{};
  cudaLaunchAttribute attributes_[2];
};

template <class T>
void measure_launches(Bench& bench) {
  Table& table = bench.begin(Table("launches", "Microseconds of the host for a call, and what a graph of it holds",
                                   {{"n", "N"},
                                    {"k", "K"},
                                    {"m", "M"},
                                    {"schedule", "schedule"},
                                    {"invar", "Invar"},
                                    {"bare", "bare launch of the same kernel"},
                                    {"empty", "empty kernel <<<>>>, same grid"},
                                    {"gemm_ex", "GemmEx"},
                                    {"above_bare", "Invar above the bare launch (asked: at most 2)"},
                                    {"kernels", "kernels in its graph"},
                                    {"other_nodes", "other nodes"},
                                    {"replay", "a replay, back to back"},
                                    {"bare_replay", "the same of the bare launch"}}));
  bench.fill<T>();
  const Cuda& exec = bench.exec();
  const T* const w = bench.w<T>();
  struct Case {
    int m, n, k;
  };
  for (const auto& [m, n, k] : {Case{1, 4096, 4096}, Case{1, 768, 7168}, Case{64, 4096, 4096}, Case{256, 4096, 4096}}) {
    const Rows<T> x = rows(bench.x<T>(), m, k), c = rows(bench.c<T>(), m, n);
    const Weights<T> b = weights(w, n, k, bench.by_rows);
    const Gemm gemm{m, n, k, bench.by_rows, cuda_type<T>(), cuda_type<T>()};
    const Call own = [&](int) { matmul<Contract16>(exec, c, x, b); };
    own(0);
    const std::int64_t outputs = std::int64_t{m} * n;
    const Rows<T> launched = rows(bench.other_c<T>(), m, n);
    Kokkos::deep_copy(exec, launched, c);
    const Graph graph(bench.turns.stream(), own, 1, 1);
    Kokkos::deep_copy(exec, c, T(0.0f));
    graph.launch();
    bench.expect_none(differing(exec, c.data(), launched.data(), outputs),
                      "a graph replay differ from those of a launch");
    int others = 0;
    std::vector<BareLaunch> kernels;
    for (const cudaGraphNode_t node : graph.kernels(others)) kernels.emplace_back(node, bench.turns.stream());
    const Call bare = [&](int) {
      for (const BareLaunch& kernel : kernels) (void)kernel.launch();
    };
    const Call empty = [&](int) {
      for (const BareLaunch& kernel : kernels) kernel.launch_empty();
    };
    // Memory that belongs to the graph may not be used without it.
    bool has_bare = !kernels.empty() && others == 0;
    for (const BareLaunch& kernel : kernels) has_bare = has_bare && kernel.launch();
    const std::vector<double> host = bench.turns.host(
        {own, empty, [&](int) { bench.cublas.gemm_ex(gemm, x.data(), w, c.data()); }, has_bare ? bare : empty});
    const std::vector<Figure> replay = bench.turns.measure({own, has_bare ? bare : own}, 1);
    const double bare_host = has_bare ? host[3] : not_measured;
    table.add({std::int64_t{n}, std::int64_t{k}, std::int64_t{m},
               schedule_name<Contract16>(exec, m, n, k, bench.by_rows), host[0], bare_host, host[1], host[2],
               host[0] - (has_bare ? host[3] : host[1]), static_cast<std::int64_t>(kernels.size()),
               std::int64_t{others}, replay[0].rotated, has_bare ? replay[1].rotated : not_measured});
  }
  table.markdown(std::cout);
}

}  // namespace invar::perf

#endif
