// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The row reductions that the specifications share, over a callable that gives element i of the row.
#ifndef INVAR_REFERENCE_ROWS_HPP
#define INVAR_REFERENCE_ROWS_HPP

#include <invar/num/arithmetic.hpp>
#include <invar/num/exp.hpp>
#include <invar/num/types.hpp>
#include <invar/reference/tree.hpp>

#include <cmath>
#include <cstdint>

namespace invar::reference {

/// Σ term(i), each lane adding term after term.
template <class Contract, class Value, class Term>
Value row_sum(std::int64_t n, const Term& term) {
  if (n == 0) return Value(0);
  const auto add = [](Value a, Value b) { return num::add(a, b); };
  return row<Contract, Value>(
      n,
      [&](std::int64_t begin, std::int64_t end) {
        return leaf<Contract, Value>(
            begin, end, Value(-0.0), [&](Value acc, std::int64_t i) { return num::add(acc, term(i)); }, add);
      },
      add);
}

/// Σ a(i)·b(i), each lane a chain of fma.
template <class Contract, class Value, class A, class B>
Value row_dot(std::int64_t n, const A& a, const B& b) {
  if (n == 0) return Value(0);
  const auto add = [](Value x, Value y) { return num::add(x, y); };
  return row<Contract, Value>(
      n,
      [&](std::int64_t begin, std::int64_t end) {
        return leaf<Contract, Value>(
            begin, end, Value(-0.0), [&](Value acc, std::int64_t i) { return num::fma(a(i), b(i), acc); }, add);
      },
      add);
}

/// Maximum and shifted sum of exponentials.
template <class Value>
struct Statistics {
  Value max;
  Value sum;
};

/// (m, s) with s = Σ exp(x(i) − m): leaves shifted by their own maximum, joins rescaled to the common one.
template <class Contract, class Value, class X>
Statistics<Value> row_statistics(std::int64_t n, const X& x) {
  using S = Statistics<Value>;
  const Value lowest(-HUGE_VALF);
  if (n == 0) return {lowest, Value(0)};
  return row<Contract, S>(
      n,
      [&](std::int64_t begin, std::int64_t end) {
        Value m = lowest;
        for (std::int64_t i = begin; i < end; ++i) m = num::max(m, x(i));
        const Value shift = num::finite_or_zero(m);
        const Value s = leaf<Contract, Value>(
            begin, end, Value(-0.0),
            [&](Value acc, std::int64_t i) { return num::add(acc, num::exp(num::sub(x(i), shift))); },
            [](Value a, Value b) { return num::add(a, b); });
        return S{m, s};
      },
      [](const S& a, const S& b) {
        const Value m = num::max(a.max, b.max);
        const Value shift = num::finite_or_zero(m);
        const Value scaled_b = num::mul(b.sum, num::exp(num::sub(b.max, shift)));
        return S{m, num::fma(a.sum, num::exp(num::sub(a.max, shift)), scaled_b)};
      });
}

}  // namespace invar::reference

#endif
