// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cuBLAS as a peer of matmul: cublasGemmEx, and the algorithms that cublasLt's heuristics propose for a shape.
#ifndef INVAR_PERF_CUDA_CUBLAS_GEMM_HPP
#define INVAR_PERF_CUDA_CUBLAS_GEMM_HPP

#include "cold_cache.hpp"

#include <cublasLt.h>
#include <cublas_v2.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace invar::perf {

inline void check(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw std::runtime_error(std::string(what) + ": " + cublasGetStatusString(status));
}

/// A product as cuBLAS sees it. All matrices are row-major without gaps: x [M, K], c [M, N], and the weights [N, K] if
/// by_rows, else [K, N].
struct Gemm {
  int m, n, k;
  bool by_rows;
  cudaDataType_t in, out;
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  float beta = 0;  ///< d = x·w + beta·c
  bool is_fast_fp8 = false;

  cublasOperation_t weights_operation() const { return by_rows ? CUBLAS_OP_T : CUBLAS_OP_N; }
  int weights_stride() const { return by_rows ? k : n; }
};

/// Handles and their workspace, for one stream.
class Cublas {
 public:
  explicit Cublas(cudaStream_t stream) : stream_(stream) {
    check(cublasCreate(&handle_), "cublasCreate");
    check(cublasLtCreate(&lt_), "cublasLtCreate");
    check(cublasSetStream(handle_, stream), "cublasSetStream");
    check(cublasSetWorkspace(handle_, workspace_.data(), workspace_.size()), "cublasSetWorkspace");
  }
  ~Cublas() {
    (void)cublasLtDestroy(lt_);
    (void)cublasDestroy(handle_);
  }
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  /// c = x·w, by cublasGemmEx with its default algorithm.
  void gemm_ex(const Gemm& g, const void* x, const void* w, void* c) const {
    const float one = 1;
    check(cublasGemmEx(handle_, g.weights_operation(), CUBLAS_OP_N, g.n, g.m, g.k, &one, w, g.in, g.weights_stride(), x,
                       g.in, g.k, &g.beta, c, g.out, g.n, g.compute, CUBLAS_GEMM_DEFAULT),
          "cublasGemmEx");
  }

 private:
  friend class LtPlan;
  cudaStream_t stream_;
  cublasHandle_t handle_ = nullptr;
  cublasLtHandle_t lt_ = nullptr;
  AlignedBytes workspace_{"workspace", std::size_t{64} << 20};
};

/// The algorithms of cublasLt for a product.
class LtPlan {
 public:
  LtPlan(const Cublas& cublas, const Gemm& g) : cublas_(cublas), gemm_(g) {
    const auto operation = g.weights_operation();
    check(cublasLtMatmulDescCreate(&product_, g.compute, CUDA_R_32F), "cublasLtMatmulDescCreate");
    set(CUBLASLT_MATMUL_DESC_TRANSA, operation);
    if (g.is_fast_fp8) set(CUBLASLT_MATMUL_DESC_FAST_ACCUM, std::int8_t{1});
    layout(weights_, g.in, g.by_rows ? g.k : g.n, g.by_rows ? g.n : g.k);
    layout(x_, g.in, g.k, g.m);
    layout(c_, g.out, g.n, g.m);
    cublasLtMatmulPreference_t preference = nullptr;
    check(cublasLtMatmulPreferenceCreate(&preference), "cublasLtMatmulPreferenceCreate");
    const std::size_t bytes = cublas.workspace_.size();
    check(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes,
                                               sizeof bytes),
          "cublasLtMatmulPreferenceSetAttribute");
    constexpr int most = 8;
    cublasLtMatmulHeuristicResult_t found[most];
    int count = 0;
    const auto status =
        cublasLtMatmulAlgoGetHeuristic(cublas.lt_, product_, weights_, x_, c_, c_, preference, most, found, &count);
    (void)cublasLtMatmulPreferenceDestroy(preference);
    if (status != CUBLAS_STATUS_SUCCESS) count = 0;
    for (int i = 0; i < count; ++i)
      if (found[i].state == CUBLAS_STATUS_SUCCESS) algorithms_.push_back({found[i].algo});
  }
  ~LtPlan() {
    for (const auto matrix : {weights_, x_, c_}) (void)cublasLtMatrixLayoutDestroy(matrix);
    (void)cublasLtMatmulDescDestroy(product_);
  }
  LtPlan(const LtPlan&) = delete;
  LtPlan& operator=(const LtPlan&) = delete;

  std::size_t size() const { return algorithms_.size(); }
  bool empty() const { return algorithms_.empty(); }

  /// Leaves one algorithm, or none.
  void keep(std::vector<std::size_t> one) {
    std::vector<Algorithm> kept;
    for (const std::size_t i : one) kept.push_back(algorithms_.at(i));
    algorithms_ = kept;
  }

  /// d = x·w + beta·c by one of the algorithms; false where it turns out not to be supported.
  bool run(std::size_t algorithm, const void* x, const void* w, const void* c, void* d) const {
    const float one = 1;
    return cublasLtMatmul(cublas_.lt_, product_, &one, w, weights_, x, x_, &gemm_.beta, c, c_, d, c_,
                          &algorithms_[algorithm].algorithm, cublas_.workspace_.data(), cublas_.workspace_.size(),
                          cublas_.stream_) == CUBLAS_STATUS_SUCCESS;
  }
  /// By the one that was kept.
  void run(const void* x, const void* w, const void* c, void* d) const {
    if (!run(0, x, w, c, d)) throw std::runtime_error("cublasLtMatmul failed");
  }

 private:
  template <class T>
  void set(cublasLtMatmulDescAttributes_t attribute, const T& value) {
    check(cublasLtMatmulDescSetAttribute(product_, attribute, &value, sizeof value), "cublasLtMatmulDescSetAttribute");
  }
  /// Column-major, as cuBLAS counts.
  static void layout(cublasLtMatrixLayout_t& matrix, cudaDataType_t type, int rows, int columns) {
    check(cublasLtMatrixLayoutCreate(&matrix, type, rows, columns, rows), "cublasLtMatrixLayoutCreate");
  }

  const Cublas& cublas_;
  Gemm gemm_;
  cublasLtMatmulDesc_t product_ = nullptr;
  cublasLtMatrixLayout_t weights_ = nullptr, x_ = nullptr, c_ = nullptr;
  /// A name for cuBLAS' unnamed struct, without which nvcc 13.0 fails in std::vector.
  struct Algorithm {
    cublasLtMatmulAlgo_t algorithm;
  };
  std::vector<Algorithm> algorithms_;
};

}  // namespace invar::perf

#endif
