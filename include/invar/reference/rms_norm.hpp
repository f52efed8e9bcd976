// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The specification of rms_norm.
#ifndef INVAR_REFERENCE_RMS_NORM_HPP
#define INVAR_REFERENCE_RMS_NORM_HPP

#include <invar/contract/defaults.hpp>
#include <invar/reference/rows.hpp>

namespace invar::reference {

/// y(i, j) = (x(i, j)·f)·weight(j), f = 1/√(Σ_j x(i, j)²/columns + eps).
template <class Contract = contract::Norm, class Y, class X, class W>
void rms_norm(const Y& y, const X& x, const W& weight, float eps) {
  using E = typename X::non_const_value_type;
  using Value = num::accumulator_t<E>;
  const auto columns = static_cast<std::int64_t>(x.extent(1));
  for (std::int64_t row = 0; row < static_cast<std::int64_t>(x.extent(0)) && columns > 0; ++row) {
    const auto element = [&](std::int64_t j) { return num::widen(E(x(row, j))); };
    const Value mean = num::div(row_dot<Contract, Value>(columns, element, element), static_cast<Value>(columns));
    const Value factor = num::div(Value(1), num::sqrt(num::add(mean, Value(eps))));
    for (std::int64_t j = 0; j < columns; ++j) {
      const Value w = num::widen(typename W::non_const_value_type(weight(j)));
      y(row, j) = num::narrow<typename Y::value_type>(num::mul(num::mul(element(j), factor), w));
    }
  }
}

/// h = x + residual rounded to h's type, then y = rms_norm(h).
template <class Contract = contract::Norm, class Y, class H, class X, class R, class W>
void rms_norm(const Y& y, const H& h, const X& x, const R& residual, const W& weight, float eps) {
  using A = typename X::non_const_value_type;
  using B = typename R::non_const_value_type;
  for (std::int64_t row = 0; row < static_cast<std::int64_t>(x.extent(0)); ++row)
    for (std::int64_t j = 0; j < static_cast<std::int64_t>(x.extent(1)); ++j)
      h(row, j) =
          num::narrow<typename H::value_type>(num::add(num::widen(A(x(row, j))), num::widen(B(residual(row, j)))));
  rms_norm<Contract>(y, h, weight, eps);
}

}  // namespace invar::reference

#endif
