// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// matmul_silu_mul on CUDA: one kernel where the matrix unit's can end so, three otherwise.
#ifndef INVAR_BACKENDS_CUDA_MATMUL_SILU_MUL_HPP
#define INVAR_BACKENDS_CUDA_MATMUL_SILU_MUL_HPP

#include <invar/backends/cuda/stream_buffer.hpp>
#include <invar/op/matmul_silu_mul.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>

namespace invar::detail {

template <>
struct MatmulSiluMulKernels<Kokkos::Cuda> {
  /// All views have been checked; c is not empty.
  template <class Contract, class C, class A, class Gate, class Up>
  static void run(const Kokkos::Cuda& exec, const C& c, const A& a, const Gate& gate, const Up& up) {
    using Element = typename C::value_type;
    const backends::cuda::StreamBuffer memory(exec, c.extent(0) * c.extent(1) * sizeof(Element));
    const Kokkos::View<Element**, Kokkos::LayoutRight, Kokkos::CudaSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>
        factor(memory.template as<Element>(), c.extent(0), c.extent(1));
    matmul<Contract>(exec, c, a, gate);
    matmul<Contract>(exec, factor, a, up);
    silu_mul(exec, c, c, factor);
  }
};

}  // namespace invar::detail

#endif
