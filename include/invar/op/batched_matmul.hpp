// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Matrix products, one for every matrix of a batch.
#ifndef INVAR_OP_BATCHED_MATMUL_HPP
#define INVAR_OP_BATCHED_MATMUL_HPP

#include <invar/op/matmul.hpp>
#include <invar/tree/matrices.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace invar {
namespace detail {

/// The kernels of batched_matmul on a backend. These are matmul's, matrix after matrix; a backend that computes many at
/// once specialises it.
template <class Exec>
struct BatchedMatmulKernels {
  /// c, a and b have been checked; c is not empty.
  template <class Contract, class C, class A, class B, class Epilogue>
  static void run(const Exec& exec, const C& c, const A& a, const B& b, const Epilogue& epilogue,
                  const schedule::Matmul* chosen) {
    for (std::size_t i = 0; i < c.extent(0); ++i)
      matmul_of<Contract>(exec, tree::matrix_of(c, i), tree::matrix_of(a, i), tree::matrix_of(b, i),
                          tree::epilogue_of(epilogue, i), chosen);
  }
};

template <class Contract, class Exec, class C, class A, class B, class Epilogue>
void batched_matmul_of(const Exec& exec, const C& c, const A& a, const B& b, const Epilogue& epilogue,
                       const schedule::Matmul* chosen) {
  static_assert(contract::is_matmul_v<Contract>, "Invar: batched_matmul takes a contract::Matmul");
  check_output<Exec>("batched_matmul", "c", c);
  check_operands<Contract, Exec, A, B>();
  require_extent("batched_matmul", "c", c, 0, a.extent(0));
  require_extent("batched_matmul", "c", c, 1, a.extent(1));
  require_extent("batched_matmul", "c", c, 2, b.extent(2));
  require_extent("batched_matmul", "b", b, 0, a.extent(0));
  require_extent("batched_matmul", "b", b, 1, a.extent(2));
  require_disjoint("batched_matmul", "c", c, "a", a);
  require_disjoint("batched_matmul", "c", c, "b", b);
  check_epilogue<Contract, Exec, A>("batched_matmul", c, epilogue);
  if (c.size() == 0) return;
  BatchedMatmulKernels<Exec>::template run<Contract>(exec, c, a, b, epilogue, chosen);
}

}  // namespace detail

/// c(i, :, :) = a(i, :, :)·b(i, :, :): every matrix, and so every row, has the bits of matmul.
///
/// \tparam Contract  fixes the bits, as in matmul
/// \param exec  runs asynchronously in this instance
/// \param c     [B, M, N], of a type that matmul gives. [out]
/// \param a     [B, M, K], of a type that matmul takes. [in]
/// \param b     [B, K, N], of a type that matmul takes with a's. One matrix that all share is a LayoutStride view whose
///              stride over the batch is 0. [in]
/// \param schedule  of each product, as in matmul, or null to let the shape choose; never changes the bits
/// \throws invar::error  on wrong extents, or where c overlaps an input
template <class Contract = contract::DefaultMatmul, ExecutionSpace Exec, ViewOfRank<3> C, ViewOfRank<3> A,
          ViewOfRank<3> B>
void batched_matmul(const Exec& exec, const C& c, const A& a, const B& b, const schedule::Matmul* schedule = nullptr) {
  detail::batched_matmul_of<Contract>(exec, c, a, b, epilogue(), schedule);
}

/// The same with a bias: c(i, m, n) = (Σ_k a(i, m, k)·b(i, k, n)) + bias(n).
///
/// \param bias  [N], of a type with the same accumulator. [in]
template <class Contract = contract::DefaultMatmul, ExecutionSpace Exec, ViewOfRank<3> C, ViewOfRank<3> A,
          ViewOfRank<3> B, ViewOfRank<1> Bias>
void batched_matmul(const Exec& exec, const C& c, const A& a, const B& b, const Bias& bias,
                    const schedule::Matmul* schedule = nullptr) {
  detail::batched_matmul_of<Contract>(exec, c, a, b, epilogue().with_bias(bias), schedule);
}

/// The same with any epilogue: a factor, a bias [N], a residual [B, M, N]. See Epilogue for their roundings.
///
/// \param epilogue  its residual may be c itself
template <class Contract = contract::DefaultMatmul, ExecutionSpace Exec, ViewOfRank<3> C, ViewOfRank<3> A,
          ViewOfRank<3> B, class Bias, class Residual>
void batched_matmul(const Exec& exec, const C& c, const A& a, const B& b, const Epilogue<Bias, Residual>& epilogue,
                    const schedule::Matmul* schedule = nullptr) {
  detail::batched_matmul_of<Contract>(exec, c, a, b, epilogue, schedule);
}

}  // namespace invar

#ifdef KOKKOS_ENABLE_CUDA
#include <invar/backends/cuda/matrix_mma_batched.hpp>
#endif

#endif
