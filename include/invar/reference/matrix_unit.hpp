// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The specification of contract::TruncatedFusedDot.
#ifndef INVAR_REFERENCE_MATRIX_UNIT_HPP
#define INVAR_REFERENCE_MATRIX_UNIT_HPP

#include <invar/contract/matrix_unit.hpp>
#include <invar/num/bits.hpp>
#include <invar/num/matrix_unit.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <type_traits>
#include <vector>

namespace invar::reference {

namespace detail {

/// A finite number: significand · 2^(exponent − fraction_bits).
struct Term {
  std::int64_t significand;
  int exponent;
  int fraction_bits;
};

/// The fields of a format without its infinities and NaN.
inline Term decode(std::uint32_t bits, int width, int fraction_bits, int bias) {
  const auto fraction = static_cast<std::int64_t>(bits & ((1u << fraction_bits) - 1));
  const auto field = static_cast<int>((bits >> fraction_bits) & ((1u << (width - 1 - fraction_bits)) - 1));
  const bool negative = (bits >> (width - 1)) != 0;
  const std::int64_t magnitude = field == 0 ? fraction : fraction + (std::int64_t{1} << fraction_bits);
  return {negative ? -magnitude : magnitude, std::max(field, 1) - bias, fraction_bits};
}

template <class T>
Term decode(T x) {
  using F = num::OperandFormat<T>;
  return decode(F::bits(x), F::width, F::fraction_bits, F::bias);
}

/// The value of an operand. Float operands are tf32: their low fraction bits are dropped.
template <class T>
double operand_value(T x) {
  if constexpr (std::is_same_v<T, float>)
    return num::from_bits<float>(num::to_bits(x) & 0xffffe000u);
  else
    return static_cast<float>(x);
}

/// 2^e within double's normal numbers.
inline double power_of_two(int e) { return num::from_bits<double>(static_cast<std::uint64_t>(1023 + e) << 52); }

}  // namespace detail

/// acc + Σ_k a[k]·b[k] over one group, by the rules of contract::TruncatedFusedDot. a and b have the same length, at
/// most Unit::group; what is missing is zero.
template <class Unit, class A, class B>
float truncated_fused_dot(const std::vector<A>& a, const std::vector<B>& b, float acc) {
  using namespace detail;
  // Infinities and NaN behave as in a sum of doubles, which no finite product overflows.
  double special = acc;
  for (std::size_t k = 0; k < a.size(); ++k) special += operand_value(a[k]) * operand_value(b[k]);
  if (special != special) return num::matrix_unit_nan();
  if (special - special != 0) return static_cast<float>(special);

  std::vector<Term> terms;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const Term x = decode(a[k]), y = decode(b[k]);
    terms.push_back({x.significand * y.significand, x.exponent + y.exponent, x.fraction_bits + y.fraction_bits});
  }
  terms.push_back(decode(num::to_bits(acc), 32, 23, 127));

  int largest = Unit::zero_exponent;  // if products are missing: they are zeros. Other accumulators lie above it
  for (Term& term : terms) {
    if (term.significand == 0) term.exponent = Unit::zero_exponent;
    largest = std::max(largest, term.exponent);
  }

  const int unit = largest - Unit::alignment_bits;  // all terms are cut to multiples of 2^unit
  std::int64_t sum = 0;
  for (const Term& term : terms) {
    const int drop = unit - (term.exponent - term.fraction_bits);
    std::int64_t magnitude = std::abs(term.significand);
    magnitude = drop <= 0 ? magnitude << -drop : drop < 63 ? magnitude >> drop : 0;
    sum += term.significand < 0 ? -magnitude : magnitude;
  }
  if (sum == 0) return 0.0f;

  std::int64_t magnitude = std::abs(sum);
  int exponent = unit;  // of the highest bit
  for (std::int64_t rest = magnitude; rest > 1; rest /= 2) ++exponent;
  const int drop = std::max(exponent, -126) - Unit::result_bits - unit;
  if (drop > 0) magnitude = drop < 63 ? magnitude >> drop << drop : 0;
  if (magnitude == 0) return 0.0f;
  if (exponent > 127) return num::from_bits<float>(sum < 0 ? 0xff800000u : 0x7f800000u);
  const double result = static_cast<double>(magnitude) * power_of_two(unit);
  return static_cast<float>(sum < 0 ? -result : result);
}

}  // namespace invar::reference

#endif
