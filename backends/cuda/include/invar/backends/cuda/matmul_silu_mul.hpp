// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// matmul_silu_mul on CUDA: one kernel where the matrix unit's can end so, three otherwise.
#ifndef INVAR_BACKENDS_CUDA_MATMUL_SILU_MUL_HPP
#define INVAR_BACKENDS_CUDA_MATMUL_SILU_MUL_HPP

#include <invar/backends/cuda/matrix_matmul.hpp>
#include <invar/backends/cuda/matrix_small_gated.hpp>
#include <invar/backends/cuda/stream_buffer.hpp>
#include <invar/op/matmul_silu_mul.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace invar::detail {

template <>
struct MatmulSiluMulKernels<Kokkos::Cuda> {
  /// All views have been checked; c is not empty.
  template <class Contract, class C, class A, class Gate, class Up>
  static void run(const Kokkos::Cuda& exec, const C& c, const A& a, const Gate& gate, const Up& up) {
    using Element = typename C::value_type;
    if (launch_as_one<Contract>(exec, c, a, gate, up)) return;
    const backends::cuda::StreamBuffer memory(exec, c.extent(0) * c.extent(1) * sizeof(Element));
    const Kokkos::View<Element**, Kokkos::LayoutRight, Kokkos::CudaSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>
        factor(memory.template as<Element>(), c.extent(0), c.extent(1));
    matmul<Contract>(exec, c, a, gate);
    matmul<Contract>(exec, factor, a, up);
    silu_mul(exec, c, c, factor);
  }

 private:
  /// More rows are faster by themselves: one kernel then has half of the registers for each product.
  static constexpr std::int64_t most_rows = 128;

  template <class Contract, class C, class A, class Gate, class Up>
  static bool launch_as_one(const Kokkos::Cuda& exec, const C& c, const A& a, const Gate& gate, const Up& up) {
    using namespace backends::cuda::gemm;
    using Element = typename A::non_const_value_type;
    if constexpr (has_small_kernels_v<typename Contract::arithmetic, Element, typename Gate::non_const_value_type> &&
                  std::is_same_v<Element, typename Up::non_const_value_type>) {
      const GatedCall<Element> call{rows_of(a),
                                    columns_of(gate),
                                    columns_of(up),
                                    output_of<float>(c, epilogue()),
                                    static_cast<std::int64_t>(a.extent(1)),
                                    Contract::leaf};
      if (call.k == 0 || call.out.m > most_rows) return false;
      return launch_gated(exec, call);
    } else {
      return false;
    }
  }
};

}  // namespace invar::detail

#endif
