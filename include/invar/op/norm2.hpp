// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Euclidean norm of a vector, or of each row of a matrix.
#ifndef INVAR_OP_NORM2_HPP
#define INVAR_OP_NORM2_HPP

#include <invar/contract/defaults.hpp>
#include <invar/tree/elements.hpp>
#include <invar/tree/reduce_rows.hpp>
#include <invar/tree/reductions.hpp>

namespace invar {
namespace detail {

struct SquareRoot {
  template <class T>
  KOKKOS_FUNCTION T operator()(T total) const {
    return num::sqrt(total);
  }
};

template <class Contract, class Exec, class Result, class X>
void norm2_of(const Exec& exec, const Result& result, const X& x, const schedule::Rows* schedule) {
  static_assert(contract::is_rows_v<Contract>, "Invar: norm2 takes a contract::Rows");
  const tree::Elements elements{x};
  tree::reduce_rows("norm2", "Invar::norm2", exec, result, elements,
                    tree::Squares<Contract, tree::Elements<X>>{elements}, schedule, SquareRoot{});
}

}  // namespace detail

/// result(i) = √(Σ_j x(i, j)²).
///
/// \tparam Contract  fixes the bits; contract::Dot unless named
/// \param exec    runs asynchronously in this instance
/// \param result  [rows], any supported type; the value is rounded to it once. [out]
/// \param x       [rows, columns]; float, double, bfloat16_t or float16_t. Widened to float (double stays double). [in]
/// \param schedule  one of schedule::rows_table, or null to let the shape choose; never changes the bits
/// \throws invar::error  on a wrong extent, or where result overlaps x
///
/// The squares are not scaled: the sum overflows where |x| exceeds about 1.8·10^19 in float, and loses accuracy below
/// about 10^-19. The norm of zero columns is +0.
template <class Contract = contract::Dot, ExecutionSpace Exec, ViewOfRank<1> Result, ViewOfRank<2> X>
void norm2(const Exec& exec, const Result& result, const X& x, const schedule::Rows* schedule = nullptr) {
  detail::norm2_of<Contract>(exec, result, x, schedule);
}

/// result() = √(Σ_i x(i)²), for a vector; otherwise as above.
template <class Contract = contract::Dot, ExecutionSpace Exec, ViewOfRank<0> Result, ViewOfRank<1> X>
void norm2(const Exec& exec, const Result& result, const X& x, const schedule::Rows* schedule = nullptr) {
  detail::norm2_of<Contract>(exec, result, x, schedule);
}

/// The same for a vector, as a host value in the accumulator's type. Waits for exec.
template <class Contract = contract::Dot, ExecutionSpace Exec, ViewOfRank<1> X>
auto norm2(const Exec& exec, const X& x) {
  using Value = num::accumulator_t<typename X::non_const_value_type>;
  return tree::on_host<Value>("Invar::norm2", exec, [&](const auto& result) { norm2<Contract>(exec, result, x); });
}

}  // namespace invar

#endif
