// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// batched_matmul on CUDA.
#ifndef INVAR_BACKENDS_CUDA_MATRIX_MMA_BATCHED_HPP
#define INVAR_BACKENDS_CUDA_MATRIX_MMA_BATCHED_HPP

#include <invar/backends/cuda/matrix_mma.hpp>
#include <invar/op/batched_matmul.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>

namespace invar::detail {

/// Products with a matrix unit that do not fill the device one by one are computed together; others are matmul's,
/// matrix after matrix on the stream.
template <>
struct BatchedMatmulKernels<Kokkos::Cuda> {
  template <class Contract, class C, class A, class B, class Epilogue>
  static void run(const Kokkos::Cuda& exec, const C& c, const A& a, const B& b, const Epilogue& epilogue,
                  const schedule::Matmul* chosen) {
    if constexpr (contract::is_matrix_unit_v<typename Contract::arithmetic>)
      if (chosen == nullptr && run_together<Contract>(exec, c, a, b, epilogue)) return;
    for (std::size_t i = 0; i < c.extent(0); ++i)
      matmul_of<Contract>(exec, tree::matrix_of(c, i), tree::matrix_of(a, i), tree::matrix_of(b, i),
                          tree::epilogue_of(epilogue, i), chosen);
  }

 private:
  template <class Contract, class C, class A, class B, class Epilogue>
  static bool run_together(const Kokkos::Cuda& exec, const C& c, const A& a, const B& b, const Epilogue& epilogue) {
    using namespace backends::cuda::gemm;
    using Unit = typename Contract::arithmetic;
    using ElementA = typename A::non_const_value_type;
    using ElementB = typename B::non_const_value_type;
    const auto count = static_cast<std::int64_t>(c.extent(0)), m = static_cast<std::int64_t>(c.extent(1)),
               n = static_cast<std::int64_t>(c.extent(2)), k = static_cast<std::int64_t>(a.extent(2));
    const std::int64_t processors = exec.cuda_device_prop().multiProcessorCount;
    if (k == 0 || count == 1 || (m + 127) / 128 * ((n + 127) / 128) >= processors) return false;
    MatrixProblem<ElementA, ElementB> problem{
        {rows_of(tree::matrix_of(a, 0)), columns_of(tree::matrix_of(b, 0)),
         output_of<float>(tree::matrix_of(c, 0), tree::epilogue_of(epilogue, 0)), k, Contract::leaf},
        count,
        {static_cast<std::int64_t>(a.stride(0)), static_cast<std::int64_t>(b.stride(0)),
         static_cast<std::int64_t>(c.stride(0)), 0},
        {}};
    if constexpr (Epilogue::has_residual)
      problem.step.residual = static_cast<std::int64_t>(epilogue.residual.stride(0));
    return launch_problem<Unit>(
        "Invar::batched_matmul", exec, problem,
        schedule::choose_matrix_mma({m, n, 1, 0, count}, processors, has_unit<Unit>(exec, true)));
  }
};

}  // namespace invar::detail

#endif
