// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The inverse frequencies of rotary position embeddings, computed on the host with the same bits everywhere.
#ifndef INVAR_NUM_FREQUENCY_HPP
#define INVAR_NUM_FREQUENCY_HPP

#include <invar/num/arithmetic.hpp>

#include <cstdint>

namespace invar::num {

namespace detail {

/// A value as the unevaluated sum of two doubles.
struct DoublePair {
  double high;
  double low;
};

/// ln 2 in two parts; the first has 32 significant bits, so that its products with exponents are exact.
inline constexpr DoublePair ln2 = {0x1.62e42feep-1, 0x1.a39ef35793c76p-33};

/// The natural logarithm of a normal x, to about 2^-55 of its value or of 1, whichever is larger.
///
/// x = 2^k·m with m in [0.7, 1.42), s = (m − 1)/(m + 1), log m = 2·(s + s³/3 + s⁵/5 + …).
inline DoublePair log_pair(double x) {
  const std::uint64_t bits = to_bits(x);
  const std::uint64_t exponent_bits = (bits - 0x3fe6a09e667f3bcdu) & 0xfff0000000000000u;
  const double k = static_cast<double>(static_cast<std::int64_t>(exponent_bits) >> 52);
  const double m = from_bits<double>(bits - exponent_bits);
  const double s = div(sub(m, 1.0), add(m, 1.0));
  const double square = mul(s, s);
  double series = 0.0;
  for (int divisor = 25; divisor >= 3; divisor -= 2)
    series = fma(series, square, div(2.0, static_cast<double>(divisor)));
  const double twice = add(s, s);
  const double high = fma(k, ln2.high, twice);
  const double rest = add(fma(k, ln2.high, negate(high)), twice);
  return {high, fma(mul(s, square), series, fma(k, ln2.low, rest))};
}

/// e^(x.high + x.low) where that is a normal double.
///
/// n = round(x/ln 2), r = x − n·ln 2, and Taylor's series for e^r, nested: 1 + r/1·(1 + r/2·(1 + r/3·(…))).
inline double exp_pair(DoublePair x) {
  const double shifted = fma(x.high, 0x1.71547652b82fep0, 0x1.8p52);
  const double n = sub(shifted, 0x1.8p52);
  const double r = add(fma(n, -ln2.high, x.high), fma(n, -ln2.low, x.low));
  double series = 1.0;
  for (int divisor = 15; divisor >= 1; --divisor) series = fma(div(r, static_cast<double>(divisor)), series, 1.0);
  return from_bits<double>(to_bits(series) + (to_bits(shifted) << 52));
}

}  // namespace detail

/// base^(−2·pair/head_dim), the angle in radians by which one position turns the pair of channels number `pair`
/// (Su et al., "RoFormer", 2021, equation 15). Host only.
///
/// Needs head_dim > 0, 0 <= pair < head_dim/2 (rounded up) and a finite base >= 1; anything else gives NaN. The bits
/// are the same everywhere; the relative error is below 2·10⁻¹⁶. Formula: exp(−(2·pair/head_dim)·log(base)), quotient,
/// logarithm and product as sums of two doubles.
inline double rope_inverse_frequency(int pair, int head_dim, double base) {
  if (head_dim <= 0 || pair < 0 || pair > (head_dim - 1) / 2 || !(base >= 1.0 && base <= 0x1.fffffffffffffp1023))
    return canonical_nan<double>();
  const double numerator = -2.0 * pair;
  const double denominator = head_dim;
  const double power = div(numerator, denominator);
  const double power_low = div(fma(negate(power), denominator, numerator), denominator);
  const detail::DoublePair logarithm = detail::log_pair(base);
  const double product = mul(power, logarithm.high);
  const double product_low =
      fma(power_low, logarithm.high, fma(power, logarithm.low, fma(power, logarithm.high, negate(product))));
  return detail::exp_pair({product, product_low});
}

}  // namespace invar::num

#endif
