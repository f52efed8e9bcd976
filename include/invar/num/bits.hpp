// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Floats as integers and back, and the one NaN that Invar's functions return.
#ifndef INVAR_NUM_BITS_HPP
#define INVAR_NUM_BITS_HPP

#include <Kokkos_Macros.hpp>
#include <concepts>
#include <cstdint>

namespace invar::num {

KOKKOS_FORCEINLINE_FUNCTION constexpr std::uint32_t to_bits(float x) { return __builtin_bit_cast(std::uint32_t, x); }
KOKKOS_FORCEINLINE_FUNCTION constexpr std::uint64_t to_bits(double x) { return __builtin_bit_cast(std::uint64_t, x); }

/// The value with these bits: `from_bits<float>(0x3f800000u)` is 1.
template <class T, class U>
KOKKOS_FORCEINLINE_FUNCTION constexpr T from_bits(U bits) {
  static_assert(sizeof(T) == sizeof(U), "Invar: from_bits needs an integer of the float's size");
  return __builtin_bit_cast(T, bits);
}

/// True where the sign bit is set: −0 and negative NaN included.
KOKKOS_FORCEINLINE_FUNCTION constexpr bool is_negative(float x) { return (to_bits(x) >> 31) != 0; }
KOKKOS_FORCEINLINE_FUNCTION constexpr bool is_negative(double x) { return (to_bits(x) >> 63) != 0; }

/// float or double.
template <class T>
concept Ieee = std::same_as<T, float> || std::same_as<T, double>;

/// The NaN that Invar returns: positive, quiet, no payload (0x7fc00000 and 0x7ff8000000000000).
template <Ieee T>
KOKKOS_FORCEINLINE_FUNCTION constexpr T canonical_nan() {
  if constexpr (std::same_as<T, float>)
    return from_bits<float>(std::uint32_t{0x7fc00000u});
  else
    return from_bits<double>(std::uint64_t{0x7ff8000000000000u});
}

/// x with every NaN made canonical. x86 gives a new NaN the sign bit, AArch64 and GPUs do not, and payloads travel
/// differently: an operation's last step passes through here, so that NaN rows too have the same bits everywhere.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION constexpr T canonical(T x) {
  if constexpr (Ieee<T>)
    return x != x ? canonical_nan<T>() : x;
  else
    return x;
}

}  // namespace invar::num

#endif
