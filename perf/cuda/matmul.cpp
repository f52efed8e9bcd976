// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ieee matmul on a GPU against cuBLAS without TF32, for weights stored [K, N] and [N, K], as linear layers keep them.
// Weights rotate through more memory than the cache holds, so that each call reads them cold.
#include "graph_timer.hpp"

#include <invar/op/matmul.hpp>
#include <invar/verify/random.hpp>

#include <cublas_v2.h>

#include <cstdint>
#include <stdexcept>
#include <vector>

namespace {

using Kokkos::Cuda;

template <class T>
using Matrix = Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::CudaSpace>;

template <class T>
Matrix<T> filled(std::uint64_t seed, std::int64_t rows, std::int64_t columns) {
  const Matrix<T> matrix("matrix", rows, columns);
  T* const data = matrix.data();
  Kokkos::parallel_for(
      "fill", Kokkos::RangePolicy<Cuda, Kokkos::IndexType<std::int64_t>>(0, rows * columns),
      KOKKOS_LAMBDA(std::int64_t i) { data[i] = invar::verify::random_value<T>(seed, i); });
  return matrix;
}

void check(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) throw std::runtime_error(cublasGetStatusString(status));
}

/// cuBLAS without TF32, with a workspace of its own, so that it can be captured.
class Cublas {
 public:
  Cublas() {
    check(cublasCreate(&handle_));
    check(cublasSetMathMode(handle_, CUBLAS_DEFAULT_MATH));  // float stays float, double may use the matrix unit
  }
  ~Cublas() { (void)cublasDestroy(handle_); }
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  /// c = a·b for row-major matrices, or a·bᵀ where b is stored [N, K].
  void multiply(const Cuda& exec, const Matrix<float>& c, const Matrix<float>& a, const Matrix<float>& b,
                bool by_rows) {
    gemm(exec, c, a, b, by_rows, 1.0f, cublasSgemm);
  }
  void multiply(const Cuda& exec, const Matrix<double>& c, const Matrix<double>& a, const Matrix<double>& b,
                bool by_rows) {
    gemm(exec, c, a, b, by_rows, 1.0, cublasDgemm);
  }

 private:
  template <class T, class Gemm>
  void gemm(const Cuda& exec, const Matrix<T>& c, const Matrix<T>& a, const Matrix<T>& b, bool by_rows, T one,
            Gemm call) {
    const T zero = 0;
    const int m = static_cast<int>(c.extent(0)), n = static_cast<int>(c.extent(1)), k = static_cast<int>(a.extent(1));
    check(cublasSetStream(handle_, exec.cuda_stream()));
    check(cublasSetWorkspace(handle_, workspace_.data(), workspace_.size()));
    check(call(handle_, by_rows ? CUBLAS_OP_T : CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, b.data(), by_rows ? k : n,
               a.data(), k, &zero, c.data(), n));
  }

  cublasHandle_t handle_ = nullptr;
  Kokkos::View<char*, Kokkos::CudaSpace> workspace_{"workspace", 64 << 20};
};

template <class T, bool IsInvar, bool ByRows>
void matmul(benchmark::State& state) {
  const std::int64_t m = state.range(0), n = 4096, k = 4096;
  const int calls = m <= 128 ? 8 : 1;
  std::vector<Matrix<T>> weights;
  for (int i = 0; i < calls; ++i) weights.push_back(ByRows ? filled<T>(2 + i, n, k) : filled<T>(2 + i, k, n));
  const auto a = filled<T>(1, m, k);
  const Matrix<T> c("c", m, n);
  Cublas cublas;
  invar::perf::measure(state,
                       invar::perf::GraphTimer(calls,
                                               [&](const Cuda& exec, int i) {
                                                 if constexpr (!IsInvar)
                                                   cublas.multiply(exec, c, a, weights[i], ByRows);
                                                 else if constexpr (ByRows)
                                                   invar::matmul(exec, c, a, invar::transposed(weights[i]));
                                                 else
                                                   invar::matmul(exec, c, a, weights[i]);
                                               }),
                       static_cast<double>(sizeof(T)) * (m * k + k * n + m * n));
  state.SetItemsProcessed(state.iterations() * m * n * k * 2);
}

void batches(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgName("M");
  for (const int m : {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096}) benchmark->Arg(m);
  invar::perf::median_of_replays(benchmark);
}
void squares(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgName("M")->Arg(1)->Arg(4096);
  invar::perf::median_of_replays(benchmark);
}

BENCHMARK_TEMPLATE(matmul, float, true, false)->Name("f32 [K,N] invar")->Apply(batches);
BENCHMARK_TEMPLATE(matmul, float, false, false)->Name("f32 [K,N] cublas")->Apply(batches);
BENCHMARK_TEMPLATE(matmul, float, true, true)->Name("f32 [N,K] invar")->Apply(batches);
BENCHMARK_TEMPLATE(matmul, float, false, true)->Name("f32 [N,K] cublas")->Apply(batches);
BENCHMARK_TEMPLATE(matmul, double, true, false)->Name("f64 [K,N] invar")->Apply(squares);
BENCHMARK_TEMPLATE(matmul, double, false, false)->Name("f64 [K,N] cublas")->Apply(squares);

}  // namespace
