// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Index of the largest element of a vector, or of each row of a matrix.
#ifndef INVAR_OP_ARGMAX_HPP
#define INVAR_OP_ARGMAX_HPP

#include <invar/contract/defaults.hpp>
#include <invar/num/arithmetic.hpp>
#include <invar/tree/elements.hpp>
#include <invar/tree/reduce_rows.hpp>
#include <invar/tree/reductions.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace invar {
namespace detail {

template <class T>
struct IndexedValue {
  T value;
  std::int64_t index;
};

/// The first of the largest elements; exactly associative, and commutative, since equal values are told apart by their
/// index. A negative index stands for no element.
template <class Contract, class X>
struct FirstLargest {
  using contract = Contract;
  using scalar = typename X::value_type;
  using value_type = IndexedValue<scalar>;
  static constexpr int element_bytes = X::element_bytes;
  X x;

  template <class Leaf>
  KOKKOS_FUNCTION value_type leaf(const Leaf& leaf) const {
    // On hosts the place inside of the leaf is sought in the leaf that wins.
    if constexpr (num::Ieee<scalar> && requires { leaf.first(scalar(0), x); })
      return {tree::extreme_of<tree::Largest, scalar>(leaf, x), leaf.begin()};
    else
      return leaf.fold(
          none(),
          [](const value_type& best, std::int64_t i, const scalar& v) {
            // Indices ascend in a lane, so an equal value comes too late.
            return best.index < 0 || num::is_greater(v, best.value) ? value_type{v, i} : best;
          },
          [](const value_type& a, const value_type& b) { return join(a, b); }, leaf.load(x));
  }
  KOKKOS_FUNCTION static value_type join(const value_type& a, const value_type& b) {
    if (b.index < 0) return a;
    if (a.index < 0 || num::is_greater(b.value, a.value)) return b;
    return num::is_greater(a.value, b.value) || a.index < b.index ? a : b;
  }
  KOKKOS_FUNCTION value_type empty() const { return none(); }
  /// The row's value from that of its leaves.
  template <class Leaf>
  KOKKOS_FUNCTION value_type finished(const value_type& best, const Leaf& leaf) const {
    if constexpr (num::Ieee<scalar> && requires { leaf.first(scalar(0), x); })
      return {best.value, leaf.first(best.value, x)};
    else
      return best;
  }

 private:
  KOKKOS_FUNCTION static value_type none() { return {scalar(0), -1}; }
};

struct IndexOnly {
  template <class T>
  KOKKOS_FUNCTION std::int64_t operator()(const IndexedValue<T>& value) const {
    return value.index;
  }
};

template <class Contract, class Exec, class Result, class X>
void argmax_of(const Exec& exec, const Result& result, const X& x, const schedule::Rows* schedule) {
  static_assert(contract::is_rows_v<Contract>, "Invar: argmax takes a contract::Rows");
  using Index = typename Result::non_const_value_type;
  static_assert(std::is_integral_v<Index> && std::is_signed_v<Index>,
                "Invar: argmax: the result holds signed integers; it is -1 where there is nothing");
  const tree::Elements elements{x};
  tree::reduce_rows("argmax", "Invar::argmax", exec, result, elements,
                    FirstLargest<Contract, tree::Elements<X>>{elements}, schedule, IndexOnly{});
}

}  // namespace detail

/// result(i) = the lowest j at which x(i, j) is largest.
///
/// \tparam Contract  fixes the bits; contract::Extremum unless named
/// \param exec    runs asynchronously in this instance
/// \param result  [rows], a signed integer type. [out]
/// \param x       [rows, columns]; float, double, bfloat16_t or float16_t. [in]
/// \param schedule  one of schedule::rows_table, or null to let the shape choose; never changes the bits
/// \throws invar::error  on a wrong extent, or where result overlaps x
///
/// A NaN counts as larger than every number, and the first NaN wins; +0 and −0 are equal. Zero columns give −1.
template <class Contract = contract::Extremum, ExecutionSpace Exec, ViewOfRank<1> Result, ViewOfRank<2> X>
void argmax(const Exec& exec, const Result& result, const X& x, const schedule::Rows* schedule = nullptr) {
  detail::argmax_of<Contract>(exec, result, x, schedule);
}

/// result() = the lowest i at which x(i) is largest, for a vector; otherwise as above.
template <class Contract = contract::Extremum, ExecutionSpace Exec, ViewOfRank<0> Result, ViewOfRank<1> X>
void argmax(const Exec& exec, const Result& result, const X& x, const schedule::Rows* schedule = nullptr) {
  detail::argmax_of<Contract>(exec, result, x, schedule);
}

/// The same for a vector, as a host value. Waits for exec.
template <class Contract = contract::Extremum, ExecutionSpace Exec, ViewOfRank<1> X>
auto argmax(const Exec& exec, const X& x) {
  using Value = std::int64_t;
  return tree::on_host<Value>("Invar::argmax", exec, [&](const auto& result) { argmax<Contract>(exec, result, x); });
}

}  // namespace invar

#endif
