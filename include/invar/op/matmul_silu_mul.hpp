// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The first half of a gated feed-forward layer (SwiGLU): two products with the same rows, and silu_mul of both.
#ifndef INVAR_OP_MATMUL_SILU_MUL_HPP
#define INVAR_OP_MATMUL_SILU_MUL_HPP

#include <invar/op/matmul.hpp>
#include <invar/op/silu_mul.hpp>

#include <Kokkos_Core.hpp>
#include <cstdint>

namespace invar {
namespace detail {

/// The kernels of matmul_silu_mul on a backend. These are the three separate operations, with memory for one factor; a
/// backend that fuses them specialises it.
template <class Exec>
struct MatmulSiluMulKernels {
  /// All views have been checked; c is not empty.
  template <class Contract, class C, class A, class Gate, class Up>
  static void run(const Exec& exec, const C& c, const A& a, const Gate& gate, const Up& up) {
    const Kokkos::View<typename C::value_type**, Kokkos::LayoutRight, typename Exec::memory_space> factor(
        Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "Invar::matmul_silu_mul"), c.extent(0), c.extent(1));
    matmul<Contract>(exec, c, a, gate);
    matmul<Contract>(exec, factor, a, up);
    silu_mul(exec, c, c, factor);
  }
};

}  // namespace detail

/// c = silu_mul(a·gate, a·up), with a·gate and a·up rounded to c's type: the bits of two matmuls into c's type and a
/// silu_mul that reads them from there, so that who fuses these agrees with who does not. (Shazeer, 2020.)
///
/// \tparam Contract  of both products, as in matmul; silu_mul's is contract::Elementwise<ieee>
/// \param exec  runs asynchronously in this instance
/// \param c     [M, N]; float, bfloat16_t or float16_t. [out]
/// \param a     [M, K], of a type that matmul takes under the contract, but double. [in]
/// \param gate, up  [K, N] each. Weights stored [N, K] enter as transposed(weight), those stored as one [2N, K] matrix
///                  as transposed subviews of it. [in]
/// \throws invar::error  on wrong extents, or where c overlaps an input
///
/// Where the backend has no kernel that fuses the three, it needs memory for M·N elements of c's type meanwhile.
template <class Contract = contract::DefaultMatmul, ExecutionSpace Exec, ViewOfRank<2> C, ViewOfRank<2> A,
          ViewOfRank<2> Gate, ViewOfRank<2> Up>
void matmul_silu_mul(const Exec& exec, const C& c, const A& a, const Gate& gate, const Up& up) {
  using namespace detail;
  static_assert(contract::is_matmul_v<Contract>, "Invar: matmul_silu_mul takes a contract::Matmul");
  check_output<Exec>("matmul_silu_mul", "c", c);
  check_operands<Contract, Exec, A, Gate>();
  check_operands<Contract, Exec, A, Up>();
  static_assert(sizeof(typename C::value_type) <= sizeof(float), "Invar: matmul_silu_mul: silu_mul knows no double");
  require_extent("matmul_silu_mul", "c", c, 0, a.extent(0));
  require_extent("matmul_silu_mul", "c", c, 1, gate.extent(1));
  require_extent("matmul_silu_mul", "gate", gate, 0, a.extent(1));
  for (int d = 0; d < 2; ++d) require_extent("matmul_silu_mul", "up", up, d, gate.extent(d));
  require_disjoint("matmul_silu_mul", "c", c, "a", a);
  require_disjoint("matmul_silu_mul", "c", c, "gate", gate);
  require_disjoint("matmul_silu_mul", "c", c, "up", up);
  if (c.extent(0) == 0 || c.extent(1) == 0) return;
  MatmulSiluMulKernels<Exec>::template run<Contract>(exec, c, a, gate, up);
}

/// The same with packed weights, on hosts, for contracts with ieee arithmetic.
template <class Contract = contract::DefaultMatmul, ExecutionSpace Exec, ViewOfRank<2> C, ViewOfRank<2> A, class T,
          class Memory>
void matmul_silu_mul(const Exec& exec, const C& c, const A& a, const PackedMatrix<T, Memory>& gate,
                     const PackedMatrix<T, Memory>& up) {
  using namespace detail;
  static_assert(sizeof(typename C::value_type) <= sizeof(float), "Invar: matmul_silu_mul: silu_mul knows no double");
  require_extent("matmul_silu_mul", "c", c, 0, a.extent(0));
  for (int d = 0; d < 2; ++d) {
    const auto expected = static_cast<std::int64_t>(d == 0 ? a.extent(1) : c.extent(1));
    require_extent("matmul_silu_mul", "gate", gate, d, expected);
    require_extent("matmul_silu_mul", "up", up, d, expected);
  }
  require_disjoint("matmul_silu_mul", "c", c, "a", a);
  if (c.extent(0) == 0 || c.extent(1) == 0) return;
  MatmulSiluMulKernels<Exec>::template run<Contract>(exec, c, a, gate, up);
}

}  // namespace invar

#ifdef KOKKOS_ENABLE_CUDA
#include <invar/backends/cuda/matmul_silu_mul.hpp>
#endif

#endif
