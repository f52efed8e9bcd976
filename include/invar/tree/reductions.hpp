// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The reductions that several operations share: sums, sums of products, and maximum with shifted exponentials.
#ifndef INVAR_TREE_REDUCTIONS_HPP
#define INVAR_TREE_REDUCTIONS_HPP

#include <invar/num/arithmetic.hpp>
#include <invar/num/exp.hpp>
#include <invar/tree/elements.hpp>
#include <invar/tree/lanes.hpp>

#include <cmath>
#include <cstdint>

namespace invar::tree {

// A reduction has contract, element_bytes (see Elements), value_type, leaf(leaf), join(left, right) and empty().
// leaf() evaluates one leaf through SequentialLeaf's interface.

/// The join of sums.
struct Add {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(const T& a, const T& b) const {
    return num::add(a, b);
  }
};

/// Σ x_i: a lane is a chain of additions.
template <class Contract, class X>
struct Sum {
  using contract = Contract;
  using value_type = typename X::value_type;
  static constexpr int element_bytes = X::element_bytes;
  X x;

  template <class Leaf>
  KOKKOS_FUNCTION value_type leaf(const Leaf& leaf) const {
    return leaf.fold(
        value_type(-0.0), [](auto acc, std::int64_t, auto v) { return num::add(acc, v); }, Add{}, leaf.load(x));
  }
  KOKKOS_FUNCTION static value_type join(value_type a, value_type b) { return num::add(a, b); }
  KOKKOS_FUNCTION value_type empty() const { return value_type(0); }
};

/// Σ x_i·y_i: a lane is a chain of fma.
template <class Contract, class X, class Y>
struct Dot {
  using contract = Contract;
  using value_type = typename X::value_type;
  static constexpr int element_bytes = narrowest<X, Y>();
  X x;
  Y y;

  template <class Leaf>
  KOKKOS_FUNCTION value_type leaf(const Leaf& leaf) const {
    return leaf.fold(
        value_type(-0.0), [](auto acc, std::int64_t, auto a, auto b) { return num::fma(a, b, acc); }, Add{},
        leaf.load(x), leaf.load(y));
  }
  KOKKOS_FUNCTION static value_type join(value_type a, value_type b) { return num::add(a, b); }
  KOKKOS_FUNCTION value_type empty() const { return value_type(0); }
};

/// Σ x_i²: Dot of a row with itself.
template <class Contract, class X>
struct Squares {
  using contract = Contract;
  using value_type = typename X::value_type;
  static constexpr int element_bytes = X::element_bytes;
  X x;

  template <class Leaf>
  KOKKOS_FUNCTION value_type leaf(const Leaf& leaf) const {
    return leaf.fold(
        value_type(-0.0), [](auto acc, std::int64_t, auto v) { return num::fma(v, v, acc); }, Add{}, leaf.load(x));
  }
  KOKKOS_FUNCTION static value_type join(value_type a, value_type b) { return num::add(a, b); }
  KOKKOS_FUNCTION value_type empty() const { return value_type(0); }
};

/// Σ (x_i − centre)²: the difference is rounded, then a lane is a chain of fma.
template <class Contract, class X>
struct CentredSquares {
  using contract = Contract;
  using value_type = typename X::value_type;
  static constexpr int element_bytes = X::element_bytes;
  X x;
  value_type centre;

  template <class Leaf>
  KOKKOS_FUNCTION value_type leaf(const Leaf& leaf) const {
    const value_type c = centre;
    return leaf.fold(
        value_type(-0.0),
        [c](auto acc, std::int64_t, auto v) {
          const auto difference = num::sub(v, num::splat<decltype(v)>(c));
          return num::fma(difference, difference, acc);
        },
        Add{}, leaf.load(x));
  }
  KOKKOS_FUNCTION static value_type join(value_type a, value_type b) { return num::add(a, b); }
  KOKKOS_FUNCTION value_type empty() const { return value_type(0); }
};

/// The larger of two values.
struct Largest {
  template <class T>
  KOKKOS_FUNCTION static T identity() {
    return T(-HUGE_VALF);
  }
  template <class T>
  KOKKOS_FUNCTION static T choose(const T& a, const T& b) {
    return num::max(a, b);
  }
  /// choose() for vectors without a NaN.
  template <num::Packed T>
  static T choose_number(const T& a, const T& b) {
    return num::max_number(a, b);
  }
};

/// A leaf's largest (or smallest) value.
template <class Choice, class T, class Leaf, class Elements>
KOKKOS_FUNCTION T extreme_of(const Leaf& leaf, const Elements& elements) {
  if constexpr (requires { leaf.template extreme<Choice, T>(elements); })
    return leaf.template extreme<Choice, T>(elements);
  else
    return leaf.fold(
        Choice::template identity<T>(), [](auto acc, std::int64_t, auto v) { return Choice::choose(acc, v); },
        [](auto a, auto b) { return Choice::choose(a, b); }, elements);
}

/// The largest (or smallest) x_i; exactly associative.
template <class Contract, class X, class Choice>
struct Extreme {
  using contract = Contract;
  using value_type = typename X::value_type;
  static constexpr int element_bytes = X::element_bytes;
  X x;

  template <class Leaf>
  KOKKOS_FUNCTION value_type leaf(const Leaf& leaf) const {
    return extreme_of<Choice, value_type>(leaf, leaf.load(x));
  }
  KOKKOS_FUNCTION static value_type join(value_type a, value_type b) { return Choice::choose(a, b); }
  KOKKOS_FUNCTION value_type empty() const { return Choice::template identity<value_type>(); }
};

/// A row's maximum and the sum of its exponentials shifted by it.
template <class T>
struct MaxSum {
  T max;
  T sum;
};

/// (m, s) with m = max x_i and s = Σ exp(x_i − m). One pass over memory: a leaf takes its own maximum, then sums in
/// lanes; a join scales both sums to the common maximum: s = fma(s_a, exp(m_a − m), s_b·exp(m_b − m)). Where a maximum
/// is infinite, 0 stands for it in the differences.
template <class Contract, class X>
struct ShiftedExponentials {
  using contract = Contract;
  using scalar = typename X::value_type;
  using value_type = MaxSum<scalar>;
  static constexpr int element_bytes = X::element_bytes;
  X x;

  template <class Leaf>
  KOKKOS_FUNCTION value_type leaf(const Leaf& leaf) const {
    const auto& elements = leaf.load(x);
    const scalar m = extreme_of<Largest, scalar>(leaf, elements);
    const scalar shift = num::finite_or_zero(m);
    // No element exceeds the maximum. Where that is infinite, sum_beside knows the sum; where it is NaN, the row is.
    const scalar s = leaf.fold(
        scalar(-0.0),
        [shift](auto acc, std::int64_t, auto v) {
          return num::add(acc, num::exp_nonpositive(num::sub(v, num::splat<decltype(v)>(shift))));
        },
        Add{}, elements);
    return {m, sum_beside(m, s)};
  }
  KOKKOS_FUNCTION static value_type join(const value_type& a, const value_type& b) {
    const scalar m = num::max(a.max, b.max);
    const scalar shift = num::finite_or_zero(m);
    if constexpr (num::Ieee<scalar>) {
      // The larger maximum's factor is exp(0) = 1, so one exponential will do.
      const bool a_is_larger = a.max == m;
      const scalar factor = num::exp_nonpositive(num::sub(a_is_larger ? b.max : a.max, shift));
      const scalar right = num::mul_unfenced(b.sum, a_is_larger ? factor : scalar(1));
      return {m, sum_beside(m, num::fma(a.sum, a_is_larger ? scalar(1) : factor, right))};
    } else {
      const scalar right = num::mul(b.sum, num::exp(num::sub(b.max, shift)));
      return {m, num::fma(a.sum, num::exp(num::sub(a.max, shift)), right)};
    }
  }
  KOKKOS_FUNCTION value_type empty() const { return {Largest::identity<scalar>(), scalar(0)}; }

 private:
  /// The sum of a leaf with maximum m: +∞ beside +∞.
  KOKKOS_FUNCTION static scalar sum_beside(scalar m, scalar s) {
    if constexpr (num::Ieee<scalar>)
      return m == scalar(HUGE_VALF) ? m : s;
    else
      return s;
  }
};

}  // namespace invar::tree

#endif
