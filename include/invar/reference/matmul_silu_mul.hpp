// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The specification of matmul_silu_mul.
#ifndef INVAR_REFERENCE_MATMUL_SILU_MUL_HPP
#define INVAR_REFERENCE_MATMUL_SILU_MUL_HPP

#include <invar/reference/matmul.hpp>
#include <invar/reference/silu_mul.hpp>

#include <Kokkos_Core.hpp>

namespace invar::reference {

/// c = silu_mul(a·gate, a·up), both products rounded to c's type.
template <class Contract = contract::DefaultMatmul, class C, class A, class Gate, class Up>
void matmul_silu_mul(const C& c, const A& a, const Gate& gate, const Up& up) {
  using Factor = Kokkos::View<typename C::value_type**, Kokkos::LayoutRight, Kokkos::HostSpace>;
  const Factor g("gate", c.extent(0), c.extent(1)), u("up", c.extent(0), c.extent(1));
  matmul<Contract>(g, a, gate);
  matmul<Contract>(u, a, up);
  silu_mul(c, g, u);
}

}  // namespace invar::reference

#endif
