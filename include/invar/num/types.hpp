// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The 16-bit storage types, the accumulator that belongs to each element type, and the conversions between them.
///
/// Invar has its own types because Kokkos' half types become float on host-only builds. They store; arithmetic is
/// done in float. Conversions have the same bits everywhere, by integer code or by the instruction that does the same:
/// widening is exact, narrowing rounds to nearest, ties to even, keeps subnormals, overflows to infinity and makes
/// every NaN the canonical 0x7fc0 / 0x7e00.
#ifndef INVAR_NUM_TYPES_HPP
#define INVAR_NUM_TYPES_HPP

#include <invar/num/bits.hpp>
#include <invar/num/symbolic.hpp>

#include <cstdint>
#include <type_traits>

namespace invar {

/// bfloat16: 1 sign, 8 exponent and 7 fraction bits.
struct bfloat16_t {
  std::uint16_t bits;

  bfloat16_t() = default;
  KOKKOS_FORCEINLINE_FUNCTION explicit bfloat16_t(float x) : bits(round_bits(x)) {}
  KOKKOS_FORCEINLINE_FUNCTION explicit operator float() const {
    return num::from_bits<float>(static_cast<std::uint32_t>(bits) << 16);
  }
  /// The value with these bits.
  KOKKOS_FORCEINLINE_FUNCTION static bfloat16_t from_bits(std::uint16_t b) {
    bfloat16_t x;
    x.bits = b;
    return x;
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION static std::uint16_t round_bits(float x) {
#if defined(__CUDA_ARCH__)
    std::uint16_t rounded_bits;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(rounded_bits) : "f"(x));
    return x != x ? std::uint16_t{0x7fc0u} : rounded_bits;
#else
    const std::uint32_t u = num::to_bits(x);
    // Half of the dropped part, less one where the kept part is even: the carry does the rounding, up to infinity.
    const std::uint32_t rounded = u + 0x7fffu + ((u >> 16) & 1u);
    return static_cast<std::uint16_t>((u & 0x7fffffffu) > 0x7f800000u ? 0x7fc0u : rounded >> 16);
#endif
  }
};

/// IEEE binary16: 1 sign, 5 exponent and 10 fraction bits.
struct float16_t {
  std::uint16_t bits;

  float16_t() = default;
  KOKKOS_FORCEINLINE_FUNCTION explicit float16_t(float x) : bits(round_bits(x)) {}
  KOKKOS_FORCEINLINE_FUNCTION explicit operator float() const { return num::from_bits<float>(widen_bits(bits)); }
  /// The value with these bits.
  KOKKOS_FORCEINLINE_FUNCTION static float16_t from_bits(std::uint16_t b) {
    float16_t x;
    x.bits = b;
    return x;
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION static std::uint16_t round_bits(float x) {
#if defined(__CUDA_ARCH__)
    std::uint16_t rounded_bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(rounded_bits) : "f"(x));
    return x != x ? std::uint16_t{0x7e00u} : rounded_bits;
#else
    const std::uint32_t u = num::to_bits(x);
    const std::uint32_t sign = (u >> 16) & 0x8000u;
    const std::uint32_t magnitude = u & 0x7fffffffu;
    // Normal result: rebias the exponent, then round away 13 bits with ties to even.
    const std::uint32_t rebiased = magnitude - (112u << 23);
    const std::uint32_t normal = (rebiased + 0xfffu + ((rebiased >> 13) & 1u)) >> 13;
    // Subnormal result: adding 0.5 lines the last kept bit up with float's last bit, so the sum rounds by itself.
    const std::uint32_t subnormal = num::to_bits(num::from_bits<float>(magnitude) + 0.5f) - 0x3f000000u;
    std::uint32_t result = magnitude < 0x38800000u ? subnormal : normal;
    result = magnitude >= 0x477ff000u ? 0x7c00u : result;  // 65520 and above round to infinity
    result = magnitude > 0x7f800000u ? 0x7e00u : sign | result;
    return static_cast<std::uint16_t>(result);
#endif
  }
  KOKKOS_FORCEINLINE_FUNCTION static std::uint32_t widen_bits(std::uint16_t b) {
    const std::uint32_t sign = static_cast<std::uint32_t>(b & 0x8000u) << 16;
    const std::uint32_t magnitude = b & 0x7fffu;
    const std::uint32_t normal = (magnitude << 13) + (112u << 23);
    const std::uint32_t special = (magnitude << 13) | 0x7f800000u;
    // A subnormal is its integer value times 2^-24; both steps are exact.
    const std::uint32_t subnormal = num::to_bits(static_cast<float>(magnitude) * 0x1p-24f);
    std::uint32_t result = magnitude < 0x0400u ? subnormal : normal;
    result = magnitude >= 0x7c00u ? special : result;
    return sign | result;
  }
};

static_assert(sizeof(bfloat16_t) == 2 && std::is_trivially_copyable_v<bfloat16_t>);
static_assert(sizeof(float16_t) == 2 && std::is_trivially_copyable_v<float16_t>);

namespace num {

/// The type in which elements of type T are added up: float for the 16-bit types, the type itself otherwise.
template <class T>
struct Accumulator {
  static_assert(!sizeof(T), "Invar: unsupported element type; supported are float, double, bfloat16_t and float16_t");
};
// clang-format off
template <> struct Accumulator<float> { using type = float; };
template <> struct Accumulator<double> { using type = double; };
template <> struct Accumulator<bfloat16_t> { using type = float; };
template <> struct Accumulator<float16_t> { using type = float; };
template <Symbolic T> struct Accumulator<T> { using type = T; };
// clang-format on

template <class T>
using accumulator_t = typename Accumulator<std::remove_cv_t<T>>::type;

/// An element in its accumulator's type: exact.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION accumulator_t<T> widen(T x) {
  return static_cast<accumulator_t<T>>(x);
}

/// A result as the element type T: rounded once to nearest, ties to even; a NaN becomes the canonical one.
template <class T, class Acc>
KOKKOS_FORCEINLINE_FUNCTION T narrow(Acc x) {
  if constexpr (std::is_same_v<T, Acc>)
    return canonical(x);
  else if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>)
    return canonical(static_cast<T>(x));
  else {
    static_assert(!std::is_same_v<Acc, double>,
                  "Invar: a double result cannot be stored in a 16-bit type: it would be rounded twice");
    static_assert(std::is_integral_v<T> == std::is_integral_v<Acc>,
                  "Invar: an index needs an integer result, a value needs a floating-point one");
    return T(x);
  }
}

#if defined(__CUDA_ARCH__)
/// Two values as 16-bit elements in one word, the first in the low half: rounded as narrow() does, but a NaN becomes
/// 0x7fff.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t round_pair(float first, float second) {
  std::uint32_t pair;
  if constexpr (std::is_same_v<T, bfloat16_t>)
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
  else
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
  return pair;
}
#endif

}  // namespace num
}  // namespace invar

#endif
