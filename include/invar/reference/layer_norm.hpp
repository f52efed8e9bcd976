// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The specification of layer_norm.
#ifndef INVAR_REFERENCE_LAYER_NORM_HPP
#define INVAR_REFERENCE_LAYER_NORM_HPP

#include <invar/contract/defaults.hpp>
#include <invar/reference/rows.hpp>

namespace invar::reference {

/// y(i, j) = fma((x(i, j) − m)·f, weight(j), bias(j)) with the row's mean m and f = 1/√(variance + eps).
template <class Contract = contract::Norm, class Y, class X, class W, class B>
void layer_norm(const Y& y, const X& x, const W& weight, const B& bias, float eps) {
  using E = typename X::non_const_value_type;
  using Value = num::accumulator_t<E>;
  const auto columns = static_cast<std::int64_t>(x.extent(1));
  const Value count = static_cast<Value>(columns);
  for (std::int64_t row = 0; row < static_cast<std::int64_t>(x.extent(0)) && columns > 0; ++row) {
    const auto element = [&](std::int64_t j) { return num::widen(E(x(row, j))); };
    const Value mean = num::div(row_sum<Contract, Value>(columns, element), count);
    const auto centred = [&](std::int64_t j) { return num::sub(element(j), mean); };
    const Value variance = num::div(row_dot<Contract, Value>(columns, centred, centred), count);
    const Value factor = num::div(Value(1), num::sqrt(num::add(variance, Value(eps))));
    for (std::int64_t j = 0; j < columns; ++j) {
      const Value w = num::widen(typename W::non_const_value_type(weight(j)));
      const Value b = num::widen(typename B::non_const_value_type(bias(j)));
      y(row, j) = num::narrow<typename Y::value_type>(num::fma(num::mul(centred(j), factor), w, b));
    }
  }
}

}  // namespace invar::reference

#endif
