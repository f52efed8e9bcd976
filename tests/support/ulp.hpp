// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The error of a float function against a yardstick in double. For accuracy only; bits are compared by digest.
#ifndef INVAR_TESTS_SUPPORT_ULP_HPP
#define INVAR_TESTS_SUPPORT_ULP_HPP

#include <invar/num/bits.hpp>

#include <cmath>
#include <limits>

namespace invar::test {

/// The logistic function in double, accurate on both sides.
inline double sigmoid(double x) { return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x)); }

/// The distance of a result from its reference, in units of the last place of the reference as a float. Infinite where
/// only one of them is NaN or rounds to infinity, where the result is a NaN other than the canonical one, and where the
/// signs of zeros differ.
inline double error_in_ulp(float result, double reference) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (reference != reference) return num::to_bits(result) == num::to_bits(num::canonical_nan<float>()) ? 0 : infinity;
  const float rounded = static_cast<float>(reference);
  if (std::isinf(rounded) || std::isinf(result)) return rounded == result ? 0 : infinity;
  if (result != result || ((result == 0 || rounded == 0) && std::signbit(result) != std::signbit(rounded)))
    return infinity;
  int exponent = 0;
  std::frexp(reference, &exponent);
  if (reference == 0 || exponent < -125) exponent = -125;
  return std::ldexp(std::abs(static_cast<double>(result) - reference), 24 - exponent);
}

}  // namespace invar::test

#endif
