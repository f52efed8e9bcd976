// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Matrix product.
#ifndef INVAR_OP_MATMUL_HPP
#define INVAR_OP_MATMUL_HPP

#include <invar/contract/defaults.hpp>
#include <invar/epilogue.hpp>
#include <invar/num/arithmetic.hpp>
#include <invar/num/matrix_unit.hpp>
#include <invar/num/matrix_unit_operand.hpp>
#include <invar/num/types.hpp>
#include <invar/packed_matrix.hpp>
#include <invar/schedule/matmul.hpp>
#include <invar/tree/matmul_store.hpp>
#include <invar/tree/matrix_unit_kernels.hpp>
#include <invar/view.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace invar {
namespace detail {

/// The kernels of matmul on a backend, in backends/.
template <class Exec>
struct MatmulKernels {
  static_assert(!sizeof(Exec), "Invar: matmul has no kernels for this execution space");
};

/// Compile-time conditions on the operands of a product.
template <class Contract, class Exec, class A, class B>
constexpr void check_operands() {
  using ElementA = typename A::non_const_value_type;
  using ElementB = typename B::non_const_value_type;
  if constexpr (contract::is_matrix_unit_v<typename Contract::arithmetic>) {
    check_view<Exec, A>();
    check_view<Exec, B>();
    static_assert(num::multiplies<typename Contract::arithmetic, ElementA, ElementB>(),
                  "Invar: matmul: the contract's matrix unit does not multiply these element types: a 16-bit unit "
                  "takes two bfloat16_t or two float16_t, a tf32 unit two float, an fp8 unit float8_e4m3_t and "
                  "float8_e5m2_t");
  } else {
    check_input<Exec, A>();
    check_input<Exec, B>();
    static_assert(std::is_same_v<num::accumulator_t<ElementA>, num::accumulator_t<ElementB>>,
                  "Invar: matmul: a and b must accumulate in one type; double does not meet float or a 16-bit type");
  }
}

/// Compile-time conditions on an operand of an epilogue: a view of this rank, whose elements widen to the sums' type.
template <class Contract, class Exec, class A, class Operand, int Rank>
constexpr void check_epilogue_operand() {
  static_assert(ViewOfRank<Operand, Rank>,
                "Invar: the bias of an epilogue is a view [N], and its residual a view of c's rank");
  check_input<Exec, Operand>();
  static_assert(std::is_same_v<num::accumulator_t<typename Operand::non_const_value_type>,
                               num::product_sum_t<typename Contract::arithmetic, typename A::non_const_value_type>>,
                "Invar: the bias and the residual of an epilogue must accumulate in the type of the product's sums; "
                "double does not meet float or a 16-bit type");
}

/// Conditions on the operands of an epilogue of c, whose last dimension is N.
template <class Contract, class Exec, class A, class C, class Epilogue>
void check_epilogue(const char* operation, const C& c, const Epilogue& epilogue) {
  constexpr int rank = static_cast<int>(C::rank);
  if constexpr (Epilogue::has_bias) {
    check_epilogue_operand<Contract, Exec, A, typename Epilogue::Bias, 1>();
    require_extent(operation, "bias", epilogue.bias, 0, c.extent(rank - 1));
    require_disjoint(operation, "c", c, "bias", epilogue.bias);
  }
  if constexpr (Epilogue::has_residual) {
    check_epilogue_operand<Contract, Exec, A, typename Epilogue::Residual, rank>();
    for (int d = 0; d < rank; ++d) require_extent(operation, "residual", epilogue.residual, d, c.extent(d));
    require_disjoint_or_same(operation, "c", c, "residual", epilogue.residual);
  }
}

/// Conditions on a, whose extent K is known to be b's.
template <class Contract, class A>
void check_depth(const A& a) {
  if (Contract::leaf == contract::whole_k && a.extent(1) > std::size_t{contract::whole_k})
    throw error("matmul", "a extent 1", "at most " + std::to_string(contract::whole_k) + " for a single chain",
                std::to_string(a.extent(1)));
}

template <class Contract, class Exec, class C, class A, class B, class Epilogue>
void matmul_of(const Exec& exec, const C& c, const A& a, const B& b, const Epilogue& epilogue,
               const schedule::Matmul* chosen, [[maybe_unused]] bool b_is_constant = false) {
  static_assert(contract::is_matmul_v<Contract>, "Invar: matmul takes a contract::Matmul");
  check_output<Exec>("matmul", "c", c);
  check_operands<Contract, Exec, A, B>();
  require_extent("matmul", "c", c, 0, a.extent(0));
  require_extent("matmul", "c", c, 1, b.extent(1));
  require_extent("matmul", "b", b, 0, a.extent(1));
  require_disjoint("matmul", "c", c, "a", a);
  require_disjoint("matmul", "c", c, "b", b);
  check_epilogue<Contract, Exec, A>("matmul", c, epilogue);
  check_depth<Contract>(a);
  if (c.extent(0) == 0 || c.extent(1) == 0) return;
  if constexpr (contract::is_matrix_unit_v<typename Contract::arithmetic>) {
    if (chosen == nullptr)
      chosen = &schedule::choose_matrix_unit_matmul(
          exec, {static_cast<std::int64_t>(c.extent(0)), static_cast<std::int64_t>(c.extent(1)),
                 static_cast<std::int64_t>(a.extent(1)), Contract::leaf, b.stride(0) == 1,
                 Contract::arithmetic::operand_bytes});
    MatrixUnitMatmulKernels<Exec>::template run<Contract>(exec, c, a, b, epilogue, *chosen, b_is_constant);
  } else {
    if (chosen == nullptr) chosen = &schedule::choose_matmul(exec, c.extent(0), c.extent(1), a.extent(1));
    MatmulKernels<Exec>::template run<Contract>(exec, c, a, b, epilogue, *chosen);
  }
}

template <class Contract, class Exec, class C, class A, class T, class Memory, class Epilogue>
void packed_matmul_of(const Exec& exec, const C& c, const A& a, const PackedMatrix<T, Memory>& b,
                      const Epilogue& epilogue, const schedule::Matmul* chosen) {
  static_assert(contract::is_matmul_v<Contract>, "Invar: matmul takes a contract::Matmul");
  static_assert(!contract::is_matrix_unit_v<typename Contract::arithmetic>,
                "Invar: matmul: a PackedMatrix is for contracts with ieee arithmetic");
  static_assert(schedule::runs_on_host_v<Exec>, "Invar: matmul: a PackedMatrix is for products on hosts");
  using Panel = Kokkos::View<const T*, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  check_output<Exec>("matmul", "c", c);
  check_operands<Contract, Exec, A, Panel>();
  require_extent("matmul", "c", c, 0, a.extent(0));
  require_extent("matmul", "c", c, 1, b.extent(1));
  require_extent("matmul", "b", b, 0, a.extent(1));
  require_disjoint("matmul", "c", c, "a", a);
  require_disjoint("matmul", "c", c, "b", Panel(b.data(), b.bytes() / sizeof(T)));
  check_epilogue<Contract, Exec, A>("matmul", c, epilogue);
  check_depth<Contract>(a);
  if (c.extent(0) == 0 || c.extent(1) == 0) return;
  if (chosen == nullptr)
    chosen = &schedule::MatmulSchedules<Exec>::choose(exec, c.extent(0), c.extent(1), a.extent(1), true);
  MatmulKernels<Exec>::template run<Contract>(exec, c, a, b, epilogue, *chosen);
}

}  // namespace detail

/// A matrix that no work writes which may still run when the call starts: weights, in an inference.
template <class View>
struct Constant {
  View view;
};

/// Tells matmul that b is such a matrix, so that a kernel may begin to read it while the one before it still runs.
template <ViewOfRank<2> View>
Constant<View> constant(const View& view) {
  return {view};
}

/// c(i, j) = Σ_k a(i, k)·b(k, j), rounded to c's type. For weights stored [N, K], as linear layers keep them, pass
/// `transposed(weight)`; the layout never changes the bits.
///
/// \tparam Contract  fixes the bits; contract::Matmul<ieee, 512> unless named. With a matrix unit, such as
///                   contract::Matmul<hopper_16bit>, a backend that lacks the unit computes through its software model
/// \param exec  runs asynchronously in this instance
/// \param c     [M, N], any supported type (float or double for double inputs). [out]
/// \param a     [M, K]; float, bfloat16_t or float16_t, accumulated in float; or double, accumulated in double. [in]
/// \param b     [K, N], of a type with the same accumulator; 16-bit types and float may meet. [in]
/// \param schedule  one of schedule::matmul_table (with a matrix unit: schedule::matrix_unit_matmul_table), or null to
///                  let the shape choose; never changes the bits
/// \throws invar::error  on wrong extents, or where c overlaps an input
///
/// With a matrix unit, a and b are of one 16-bit type; float for a tf32 unit, which drops their 13 low bits; or
/// float8_e4m3_t and float8_e5m2_t in any pairing for an fp8 unit. With K = 0 the sum is +0.
template <class Contract = contract::DefaultMatmul, ExecutionSpace Exec, ViewOfRank<2> C, ViewOfRank<2> A,
          ViewOfRank<2> B>
void matmul(const Exec& exec, const C& c, const A& a, const B& b, const schedule::Matmul* schedule = nullptr) {
  detail::matmul_of<Contract>(exec, c, a, b, epilogue(), schedule);
}

/// c(i, j) = (Σ_k a(i, k)·b(k, j)) + bias(j): the bias is added to the finished sum with one rounding.
///
/// \param bias  [N], of a type with the same accumulator. [in]
template <class Contract = contract::DefaultMatmul, ExecutionSpace Exec, ViewOfRank<2> C, ViewOfRank<2> A,
          ViewOfRank<2> B, ViewOfRank<1> Bias>
void matmul(const Exec& exec, const C& c, const A& a, const B& b, const Bias& bias,
            const schedule::Matmul* schedule = nullptr) {
  detail::matmul_of<Contract>(exec, c, a, b, epilogue().with_bias(bias), schedule);
}

/// The same with any epilogue: a factor, a bias, a residual. See Epilogue for their roundings.
///
/// \param epilogue  its residual may be c itself
template <class Contract = contract::DefaultMatmul, ExecutionSpace Exec, ViewOfRank<2> C, ViewOfRank<2> A,
          ViewOfRank<2> B, class Bias, class Residual>
void matmul(const Exec& exec, const C& c, const A& a, const B& b, const Epilogue<Bias, Residual>& epilogue,
            const schedule::Matmul* schedule = nullptr) {
  detail::matmul_of<Contract>(exec, c, a, b, epilogue, schedule);
}

/// The same where b is known to be complete before anything that may still run in exec: constant(b). Never changes the
/// bits; saves time where the device overlaps kernels, with few rows.
template <class Contract = contract::DefaultMatmul, ExecutionSpace Exec, ViewOfRank<2> C, ViewOfRank<2> A,
          ViewOfRank<2> B, class Bias = detail::NoOperand, class Residual = detail::NoOperand>
void matmul(const Exec& exec, const C& c, const A& a, const Constant<B>& b,
            const Epilogue<Bias, Residual>& epilogue = {}, const schedule::Matmul* schedule = nullptr) {
  detail::matmul_of<Contract>(exec, c, a, b.view, epilogue, schedule, true);
}

/// The same with a b that was packed, once for many products: on hosts the fastest form, and with any epilogue.
///
/// \param b         [K, N]: pack(exec, b). [in]
/// \param schedule  one of schedule::matmul_table, or null to let the shape choose; never changes the bits
template <class Contract = contract::DefaultMatmul, ExecutionSpace Exec, ViewOfRank<2> C, ViewOfRank<2> A, class T,
          class Memory, class Bias = detail::NoOperand, class Residual = detail::NoOperand>
void matmul(const Exec& exec, const C& c, const A& a, const PackedMatrix<T, Memory>& b,
            const Epilogue<Bias, Residual>& epilogue = {}, const schedule::Matmul* schedule = nullptr) {
  detail::packed_matmul_of<Contract>(exec, c, a, b, epilogue, schedule);
}

}  // namespace invar

#include <invar/backends/host/matmul.hpp>
#ifdef KOKKOS_ENABLE_CUDA
#include <invar/backends/cuda/matmul.hpp>
#include <invar/backends/cuda/matrix_matmul.hpp>
#endif

#endif
