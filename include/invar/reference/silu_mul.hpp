// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The specification of silu_mul.
#ifndef INVAR_REFERENCE_SILU_MUL_HPP
#define INVAR_REFERENCE_SILU_MUL_HPP

#include <invar/num/arithmetic.hpp>
#include <invar/num/sigmoid.hpp>
#include <invar/num/types.hpp>

#include <cstdint>

namespace invar::reference {

/// y(i, j) = (g·sigmoid(g))·up(i, j) with g = gate(i, j).
template <class Y, class G, class U>
void silu_mul(const Y& y, const G& gate, const U& up) {
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(y.extent(0)); ++i)
    for (std::int64_t j = 0; j < static_cast<std::int64_t>(y.extent(1)); ++j) {
      const auto g = num::widen(typename G::non_const_value_type(gate(i, j)));
      const auto u = num::widen(typename U::non_const_value_type(up(i, j)));
      y(i, j) = num::narrow<typename Y::value_type>(num::mul(num::mul(g, num::sigmoid(g)), u));
    }
}

}  // namespace invar::reference

#endif
