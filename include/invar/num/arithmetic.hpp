// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The correctly rounded operations from which everything else is built: add, sub, mul, fma, div, sqrt, and
/// maximum and minimum with stated rules. float and double; to nearest, ties to even; subnormals are kept.
#ifndef INVAR_NUM_ARITHMETIC_HPP
#define INVAR_NUM_ARITHMETIC_HPP

#include <invar/config.hpp>
#include <invar/num/barrier.hpp>
#include <invar/num/bits.hpp>
#include <invar/num/symbolic.hpp>
#include <invar/num/vector.hpp>

#include <cmath>
#include <concepts>

namespace invar::num {

/// a·b + c with one rounding.
template <Ieee T>
KOKKOS_FORCEINLINE_FUNCTION T fma(T a, T b, T c) {
#if (defined(__GNUC__) || defined(__clang__)) && !defined(__CUDACC__)
  if constexpr (std::same_as<T, float>)
    return __builtin_fmaf(a, b, c);
  else
    return __builtin_fma(a, b, c);
#else
  return ::fma(a, b, c);
#endif
}

/// a + b, rounded once.
template <Ieee T>
KOKKOS_FORCEINLINE_FUNCTION T add(T a, T b) {
  return a + b;
}

/// a − b, rounded once.
template <Ieee T>
KOKKOS_FORCEINLINE_FUNCTION T sub(T a, T b) {
  return a - b;
}

/// a·b, rounded once, for a product whose value goes into another product, a conversion, memory or the addend of an
/// explicit fma (nothing fuses two products), never into an add or sub of the same kernel: there the compiler might
/// fuse it. It vectorises everywhere; mul() does not with clang.
template <Ieee T>
KOKKOS_FORCEINLINE_FUNCTION T mul_unfenced(T a, T b) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::same_as<T, float>)
    return __fmul_rn(a, b);
  else
    return __dmul_rn(a, b);
#elif defined(__HIP_DEVICE_COMPILE__)
#pragma clang fp contract(off)
  return a * b;
#else
  return a * b;
#endif
}

/// a·b, rounded once, safe in front of any operation.
template <Ieee T>
KOKKOS_FORCEINLINE_FUNCTION T mul(T a, T b) {
#if defined(INVAR_PRODUCT_BY_FMA)
  return fma(a, b, T(-0.0));  // −0 leaves every product as it is, zeros of both signs too
#else
  return barrier(mul_unfenced(a, b));
#endif
}

/// a / b, correctly rounded.
template <Ieee T>
KOKKOS_FORCEINLINE_FUNCTION T div(T a, T b) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::same_as<T, float>)
    return __fdiv_rn(a, b);
  else
    return __ddiv_rn(a, b);
#else
  return a / b;
#endif
}

/// The square root, correctly rounded; NaN below −0.
template <Ieee T>
KOKKOS_FORCEINLINE_FUNCTION T sqrt(T a) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::same_as<T, float>)
    return __fsqrt_rn(a);
  else
    return __dsqrt_rn(a);
#elif (defined(__GNUC__) || defined(__clang__)) && !defined(__CUDACC__)
  if constexpr (std::same_as<T, float>)
    return __builtin_sqrtf(a);
  else
    return __builtin_sqrt(a);
#else
  return ::sqrt(a);
#endif
}

/// −a: the sign bit flipped.
template <Ieee T>
KOKKOS_FORCEINLINE_FUNCTION T negate(T a) {
  return -a;
}

/// The larger value. A NaN operand gives a NaN; +0 counts as larger than −0. The result does not depend on the order of
/// the operands, so every tree of max gives the same bits once narrow() has made its NaN canonical.
template <Ieee T>
KOKKOS_FORCEINLINE_FUNCTION T max(T a, T b) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::same_as<T, float>) {
    float larger;  // one instruction with exactly these rules
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(larger) : "f"(a), "f"(b));
    return larger;
  }
#endif
  const T larger = (a > b || (a == b && !is_negative(a))) ? a : b;
  return (a != a || b != b) ? canonical_nan<T>() : larger;
}

/// The smaller value. A NaN operand gives a NaN; −0 counts as smaller than +0.
template <Ieee T>
KOKKOS_FORCEINLINE_FUNCTION T min(T a, T b) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::same_as<T, float>) {
    float smaller;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(smaller) : "f"(a), "f"(b));
    return smaller;
  }
#endif
  const T smaller = (a < b || (a == b && is_negative(a))) ? a : b;
  return (a != a || b != b) ? canonical_nan<T>() : smaller;
}

/// a, or +0 where a is infinite: the reference that a row's exponentials are shifted by, so that a row of −∞ sums
/// to 0 and one with +∞ to +∞ instead of NaN.
template <Ieee T>
KOKKOS_FORCEINLINE_FUNCTION T finite_or_zero(T a) {
  return (a - a == T(0)) || (a != a) ? a : T(0);
}

/// 1/a, correctly rounded, or +0 where a is zero.
template <Ieee T>
KOKKOS_FORCEINLINE_FUNCTION T reciprocal_or_zero(T a) {
  const T quotient = div(T(1), a == T(0) ? T(1) : a);
  return a == T(0) ? T(0) : quotient;
}

/// True where a stands before b in descending order: a larger value, and NaN above every number.
template <Ieee T>
KOKKOS_FORCEINLINE_FUNCTION bool is_greater(T a, T b) {
  return a > b || (a != a && b == b);
}

// The same operations for a scalar that records them.
// clang-format off
template <Symbolic T> KOKKOS_FORCEINLINE_FUNCTION T fma(T a, T b, T c) { return T::apply(Operation::fma, a, b, c); }
template <Symbolic T> KOKKOS_FORCEINLINE_FUNCTION T add(T a, T b) { return T::apply(Operation::add, a, b); }
template <Symbolic T> KOKKOS_FORCEINLINE_FUNCTION T sub(T a, T b) { return T::apply(Operation::sub, a, b); }
template <Symbolic T> KOKKOS_FORCEINLINE_FUNCTION T mul(T a, T b) { return T::apply(Operation::mul, a, b); }
template <Symbolic T> KOKKOS_FORCEINLINE_FUNCTION T mul_unfenced(T a, T b) { return T::apply(Operation::mul, a, b); }
template <Symbolic T> KOKKOS_FORCEINLINE_FUNCTION T div(T a, T b) { return T::apply(Operation::div, a, b); }
template <Symbolic T> KOKKOS_FORCEINLINE_FUNCTION T sqrt(T a) { return T::apply(Operation::sqrt, a); }
template <Symbolic T> KOKKOS_FORCEINLINE_FUNCTION T negate(T a) { return T::apply(Operation::negate, a); }
template <Symbolic T> KOKKOS_FORCEINLINE_FUNCTION T max(T a, T b) { return T::apply(Operation::max, a, b); }
template <Symbolic T> KOKKOS_FORCEINLINE_FUNCTION T min(T a, T b) { return T::apply(Operation::min, a, b); }
template <Symbolic T> KOKKOS_FORCEINLINE_FUNCTION bool is_greater(T a, T b) { return a.hash > b.hash; }
template <Symbolic T> KOKKOS_FORCEINLINE_FUNCTION T finite_or_zero(T a) { return T::apply(Operation::finite_or_zero, a); }
template <Symbolic T> KOKKOS_FORCEINLINE_FUNCTION T reciprocal_or_zero(T a) { return T::apply(Operation::reciprocal_or_zero, a); }
// clang-format on

/// 1/√a in two correctly rounded steps.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T rsqrt(T a) {
  return div(T(1), sqrt(a));
}

}  // namespace invar::num

#endif
