// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The reductions that several operations share: sums, sums of products, and maximum with shifted exponentials.
#ifndef INVAR_TREE_REDUCTIONS_HPP
#define INVAR_TREE_REDUCTIONS_HPP

#include <invar/num/arithmetic.hpp>
#include <invar/num/exp.hpp>
#include <invar/tree/lanes.hpp>

#include <cmath>
#include <cstdint>

namespace invar::tree {

/// Σ x_i: a lane is a chain of additions.
template <class Contract, class X>
struct Sum {
  using value_type = typename X::value_type;
  static constexpr std::int64_t leaf_size = Contract::leaf;
  X x;

  KOKKOS_FUNCTION value_type leaf(std::int64_t row, std::int64_t begin, std::int64_t end) const {
    return leaf_of_lanes<Contract::lanes>(
        begin, end, value_type(-0.0), [&](value_type acc, std::int64_t i) { return num::add(acc, x(row, i)); }, join);
  }
  KOKKOS_FUNCTION static value_type join(value_type a, value_type b) { return num::add(a, b); }
  KOKKOS_FUNCTION value_type empty() const { return value_type(0); }
};

/// Σ x_i·y_i: a lane is a chain of fma.
template <class Contract, class X, class Y>
struct Dot {
  using value_type = typename X::value_type;
  static constexpr std::int64_t leaf_size = Contract::leaf;
  X x;
  Y y;

  KOKKOS_FUNCTION value_type leaf(std::int64_t row, std::int64_t begin, std::int64_t end) const {
    return leaf_of_lanes<Contract::lanes>(
        begin, end, value_type(-0.0),
        [&](value_type acc, std::int64_t i) { return num::fma(x(row, i), y(row, i), acc); }, join);
  }
  KOKKOS_FUNCTION static value_type join(value_type a, value_type b) { return num::add(a, b); }
  KOKKOS_FUNCTION value_type empty() const { return value_type(0); }
};

/// Σ (x_i − centre)²: the difference is rounded, then a lane is a chain of fma.
template <class Contract, class X>
struct CentredSquares {
  using value_type = typename X::value_type;
  static constexpr std::int64_t leaf_size = Contract::leaf;
  X x;
  value_type centre;

  KOKKOS_FUNCTION value_type leaf(std::int64_t row, std::int64_t begin, std::int64_t end) const {
    return leaf_of_lanes<Contract::lanes>(
        begin, end, value_type(-0.0),
        [&](value_type acc, std::int64_t i) {
          const value_type difference = num::sub(x(row, i), centre);
          return num::fma(difference, difference, acc);
        },
        join);
  }
  KOKKOS_FUNCTION static value_type join(value_type a, value_type b) { return num::add(a, b); }
  KOKKOS_FUNCTION value_type empty() const { return value_type(0); }
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
  using scalar = typename X::value_type;
  using value_type = MaxSum<scalar>;
  static constexpr std::int64_t leaf_size = Contract::leaf;
  X x;

  KOKKOS_FUNCTION value_type leaf(std::int64_t row, std::int64_t begin, std::int64_t end) const {
    const auto max = [](scalar a, scalar b) { return num::max(a, b); };
    const scalar m = leaf_of_lanes<Contract::lanes>(
        begin, end, minus_infinity(), [&](scalar acc, std::int64_t i) { return max(acc, x(row, i)); }, max);
    const scalar shift = num::finite_or_zero(m);
    const scalar s = leaf_of_lanes<Contract::lanes>(
        begin, end, scalar(-0.0),
        [&](scalar acc, std::int64_t i) { return num::add(acc, num::exp(num::sub(x(row, i), shift))); },
        [](scalar a, scalar b) { return num::add(a, b); });
    return {m, s};
  }
  KOKKOS_FUNCTION static value_type join(const value_type& a, const value_type& b) {
    const scalar m = num::max(a.max, b.max);
    const scalar shift = num::finite_or_zero(m);
    const scalar right = num::mul(b.sum, num::exp(num::sub(b.max, shift)));
    return {m, num::fma(a.sum, num::exp(num::sub(a.max, shift)), right)};
  }
  KOKKOS_FUNCTION value_type empty() const { return {minus_infinity(), scalar(0)}; }

 private:
  KOKKOS_FUNCTION static scalar minus_infinity() { return scalar(-HUGE_VALF); }
};

}  // namespace invar::tree

#endif
