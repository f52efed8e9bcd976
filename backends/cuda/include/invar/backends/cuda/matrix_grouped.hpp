// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// grouped_matmul on CUDA.
#ifndef INVAR_BACKENDS_CUDA_MATRIX_GROUPED_HPP
#define INVAR_BACKENDS_CUDA_MATRIX_GROUPED_HPP

#include <invar/backends/cuda/matrix_mma.hpp>
#include <invar/op/grouped_matmul.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <limits>

namespace invar::detail {

/// With a matrix unit blocks find their group and rows by the offsets; there are as many as any groups may need.
template <>
struct GroupedMatmulKernels<Kokkos::Cuda> {
  template <class Contract, class C, class A, class B, class Offsets>
  static void run(const Kokkos::Cuda& exec, const C& c, const A& a, const B& b, const Offsets& offsets) {
    if constexpr (contract::is_matrix_unit_v<typename Contract::arithmetic>)
      if (run_tiles<Contract>(exec, c, a, b, offsets)) return;
    run_grouped_outputs<Contract>(exec, c, a, b, offsets);
  }

 private:
  template <class Contract, class C, class A, class B, class Offsets>
  static bool run_tiles(const Kokkos::Cuda& exec, const C& c, const A& a, const B& b, const Offsets& offsets) {
    using namespace backends::cuda::gemm;
    using Unit = typename Contract::arithmetic;
    using ElementA = typename A::non_const_value_type;
    using ElementB = typename B::non_const_value_type;
    const auto m = static_cast<std::int64_t>(c.extent(0)), n = static_cast<std::int64_t>(c.extent(1)),
               k = static_cast<std::int64_t>(a.extent(1)), groups = static_cast<std::int64_t>(b.extent(0));
    if (k == 0 || groups > std::numeric_limits<std::int32_t>::max() / 2) return false;
    MatrixProblem<ElementA, ElementB> problem{
        {rows_of(a), columns_of(tree::matrix_of(b, 0)), output_of<float>(c, epilogue()), k, Contract::leaf},
        1,
        {0, static_cast<std::int64_t>(b.stride(0)), 0, 0},
        {offsets.data(), static_cast<std::int64_t>(offsets.stride(0)), static_cast<int>(groups)}};
    // As if all groups had as many rows.
    return launch_problem<Unit>(
        "Invar::grouped_matmul", exec, problem,
        schedule::choose_matrix_mma({(m + groups - 1) / groups, n, 1, 0, groups},
                                    exec.cuda_device_prop().multiProcessorCount, has_unit<Unit>(exec, true)));
  }
};

}  // namespace invar::detail

#endif
