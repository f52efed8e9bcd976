// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// matmul with a matrix unit's arithmetic on CUDA: from a call to its kernel.
#ifndef INVAR_BACKENDS_CUDA_MATRIX_MATMUL_HPP
#define INVAR_BACKENDS_CUDA_MATRIX_MATMUL_HPP

#include <invar/backends/cuda/launch.hpp>
#include <invar/backends/cuda/matmul_join.hpp>
#include <invar/backends/cuda/matrix_call.hpp>
#include <invar/backends/cuda/matrix_large.hpp>
#include <invar/backends/cuda/matrix_mma.hpp>
#include <invar/backends/cuda/matrix_schedule.hpp>
#include <invar/backends/cuda/matrix_small.hpp>
#include <invar/op/matmul.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

namespace invar::backends::cuda::gemm {

/// True for the products that the kernels for few rows compute, with bulk copies.
template <class Unit, class A, class B>
inline constexpr bool has_small_kernels_v = std::is_same_v<Unit, hopper_16bit>&& std::is_same_v<A, B> && sizeof(A) == 2;

/// True for those that the kernels for many rows compute.
template <class Unit, class A, class B>
inline constexpr bool has_large_kernels_v =
    has_small_kernels_v<Unit, A, B> || std::is_same_v<Unit, hopper_tf32> || std::is_same_v<Unit, hopper_fp8>;

/// Launches the kernel of an entry and says whether it could take the call. k is not 0.
template <class Unit, class A, class B>
bool launch_entry(const Kokkos::Cuda& exec, const MatrixCall<A, B>& call, const schedule::Matmul& chosen) {
  using Family = schedule::MatrixKernel::Family;
  const auto [family, entry] = schedule::MatrixKernel::of(chosen);
  if constexpr (has_large_kernels_v<Unit, A, B>)
    if (family == Family::large) return launch_large(exec, call, schedule::large_tiles.at(entry));
  if constexpr (has_small_kernels_v<Unit, A, B>)
    if (family == Family::small) return launch_small<A>(exec, call, schedule::matrix_small_table.at(entry));
  if (family == Family::mma) return launch_mma<Unit>(exec, call, schedule::matrix_mma_table.at(entry));
  return false;
}

/// The same, with more general entries where that one cannot take the call.
template <class Unit, class A, class B>
bool launch_matrix_unit(const Kokkos::Cuda& exec, const MatrixCall<A, B>& call, const schedule::Matmul& chosen) {
  using Family = schedule::MatrixKernel::Family;
  if (schedule::MatrixKernel::of(chosen).family == Family::model) return false;
  if (launch_entry<Unit>(exec, call, chosen)) return true;
  return launch_mma<Unit>(exec, call);
}

/// What is left of a product over nothing: +0 and the epilogue.
inline void launch_empty(const Kokkos::Cuda& exec, const MatmulOutput<float>& out) {
  using Kernel = MatmulJoin<float>;
  const std::int64_t blocks = (out.m * out.n + Kernel::max_threads - 1) / Kernel::max_threads;
  cuda::launch("Invar::matmul::join", exec, {dim3(static_cast<unsigned>(blocks)), dim3(Kernel::max_threads)},
               Kernel{out, 0});
}

}  // namespace invar::backends::cuda::gemm

namespace invar::detail {

template <>
struct MatrixUnitMatmulKernels<Kokkos::Cuda> {
  /// c, a and b have been checked; c is not empty.
  template <class Contract, class C, class A, class B, class Epilogue>
  static void run(const Kokkos::Cuda& exec, const C& c, const A& a, const B& b, const Epilogue& epilogue,
                  const schedule::Matmul& chosen, bool b_is_constant) {
    using namespace backends::cuda::gemm;
    using ElementA = typename A::non_const_value_type;
    using ElementB = typename B::non_const_value_type;
    require_matrix_unit_schedule<Kokkos::Cuda>(chosen);
    const MatrixCall<ElementA, ElementB> call{
        rows_of(a),     columns_of(b), output_of<float>(c, epilogue), static_cast<std::int64_t>(a.extent(1)),
        Contract::leaf, b_is_constant};
    if (call.k == 0) return launch_empty(exec, call.out);
    if (launch_matrix_unit<typename Contract::arithmetic>(exec, call, chosen)) return;
    MatrixUnitModel<Kokkos::Cuda>::template run<Contract>(exec, c, a, b, epilogue,
                                                          schedule::MatrixUnitMatmulSchedules<Kokkos::Cuda>::table[0]);
  }
};

}  // namespace invar::detail

#endif
