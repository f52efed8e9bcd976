// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The door through which a backend's vectors enter formulas and kernels: written once for a scalar, they run on all
/// lanes of a vector with each lane's bits those of the scalar.
#ifndef INVAR_NUM_VECTOR_HPP
#define INVAR_NUM_VECTOR_HPP

#include <Kokkos_Macros.hpp>

namespace invar::num {

/// True for a backend's vector of numbers. The vector's namespace has the functions below, each of which does to every
/// lane what its namesake here does to a scalar, up to the sign and payload of a NaN.
template <class T>
inline constexpr bool is_vector_v = false;

template <class T>
concept Packed = is_vector_v<T>;

/// A scalar as T: in every lane, where T is a vector.
template <class T, class Scalar>
KOKKOS_FORCEINLINE_FUNCTION constexpr T splat(Scalar value) {
  if constexpr (Packed<T>)
    return T::fill(value);
  else
    return T(value);
}

/// a where the condition holds, else b. A vector has one for its comparisons.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION constexpr T select(bool condition, T a, T b) {
  return condition ? a : b;
}

/// a where it is less (greater) than b, else b, and so where one is NaN: one instruction on many processors.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION constexpr T lesser(T a, T b) {
  return a < b ? a : b;
}
template <class T>
KOKKOS_FORCEINLINE_FUNCTION constexpr T greater(T a, T b) {
  return a > b ? a : b;
}

// What the unqualified name finds in the vector's namespace is a better match than the function that asks.
// clang-format off
template <Packed T> inline T fma(T a, T b, T c) { return fma(a, b, c); }
template <Packed T> inline T add(T a, T b) { return add(a, b); }
template <Packed T> inline T sub(T a, T b) { return sub(a, b); }
template <Packed T> inline T mul(T a, T b) { return mul(a, b); }
template <Packed T> inline T mul_unfenced(T a, T b) { return mul_unfenced(a, b); }
template <Packed T> inline T div(T a, T b) { return div(a, b); }
template <Packed T> inline T negate(T a) { return negate(a); }
template <Packed T> inline T max(T a, T b) { return max(a, b); }
template <Packed T> inline T min(T a, T b) { return min(a, b); }
template <Packed T> inline T max_number(T a, T b) { return max_number(a, b); }
template <Packed T> inline T min_number(T a, T b) { return min_number(a, b); }
template <Packed T> inline T exp(T a) { return exp(a); }
template <Packed T> inline T exp_nonpositive(T a) { return exp_nonpositive(a); }
template <Packed T> inline T exp2(T a) { return exp2(a); }
template <Packed T> inline T sigmoid(T a) { return sigmoid(a); }
template <Packed T> inline T sin(T a) { return sin(a); }
template <Packed T> inline T cos(T a) { return cos(a); }
// clang-format on

}  // namespace invar::num

#endif
