// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The specification of rope.
#ifndef INVAR_REFERENCE_ROPE_HPP
#define INVAR_REFERENCE_ROPE_HPP

#include <invar/num/arithmetic.hpp>
#include <invar/num/cos.hpp>
#include <invar/num/sin.hpp>
#include <invar/num/types.hpp>

#include <cstdint>

namespace invar::reference {

/// Each pair of each head turned by position·frequency; `adjacent` pairs are (2i, 2i + 1), others (i, i + pairs).
template <class Y, class X, class Positions, class Frequencies>
void rope(const Y& y, const X& x, const Positions& positions, const Frequencies& frequencies, bool adjacent) {
  using E = typename X::non_const_value_type;
  using T = typename Y::value_type;
  using Value = num::accumulator_t<E>;
  const auto pairs = static_cast<std::int64_t>(frequencies.extent(0));
  for (std::int64_t token = 0; token < static_cast<std::int64_t>(x.extent(0)); ++token)
    for (std::int64_t head = 0; head < static_cast<std::int64_t>(x.extent(1)); ++head) {
      for (std::int64_t d = 2 * pairs; d < static_cast<std::int64_t>(x.extent(2)); ++d)
        y(token, head, d) = num::narrow<T>(num::widen(E(x(token, head, d))));
      for (std::int64_t i = 0; i < pairs; ++i) {
        const std::int64_t first = adjacent ? 2 * i : i;
        const std::int64_t second = adjacent ? 2 * i + 1 : i + pairs;
        const Value angle = num::mul(static_cast<Value>(positions(token)), Value(frequencies(i)));
        const Value a = num::widen(E(x(token, head, first)));
        const Value b = num::widen(E(x(token, head, second)));
        y(token, head, first) = num::narrow<T>(num::fma(a, num::cos(angle), num::negate(num::mul(b, num::sin(angle)))));
        y(token, head, second) = num::narrow<T>(num::fma(b, num::cos(angle), num::mul(a, num::sin(angle))));
      }
    }
}

}  // namespace invar::reference

#endif
