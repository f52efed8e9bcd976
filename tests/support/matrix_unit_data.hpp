// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operands for the instructions of a matrix unit: many tiles of several kinds, as functions of the position, so that
// the device makes them itself.
#ifndef INVAR_TESTS_SUPPORT_MATRIX_UNIT_DATA_HPP
#define INVAR_TESTS_SUPPORT_MATRIX_UNIT_DATA_HPP

#include <invar/num/matrix_unit_operand.hpp>
#include <invar/verify/random.hpp>

#include <Kokkos_Macros.hpp>
#include <cstdint>
#include <type_traits>

namespace invar::test {

/// What a tile's operands are.
enum class UnitKind {
  ordinary,    ///< exponents −8 to 0
  gaussian,    ///< about a normal distribution
  cancelling,  ///< most products are there with both signs
  level,       ///< the exponents of a row, and of a column, near each other anywhere in the format
  finite,      ///< all finite bit patterns
  smallest,    ///< products around float's smallest, where the format reaches them; subnormal operands elsewhere
  largest,     ///< products around float's largest, where the format reaches them
  sparse,      ///< three of four are zeros, of both signs; the others are small
  rare,        ///< ordinary but for an infinity, NaN, zero or extreme here and there
  patterns     ///< all bit patterns
};
inline constexpr int unit_kinds = 10;
inline constexpr const char* unit_kind_names[unit_kinds] = {"ordinary", "gaussian", "cancelling", "level", "finite",
                                                            "smallest", "largest",  "sparse",     "rare",  "patterns"};

/// What an accumulator starts from.
enum class UnitStart {
  zero,       ///< of both signs
  near,       ///< an exponent near that of the products
  far,        ///< within 30 binades of that
  finite,     ///< any finite bit pattern
  subnormal,  ///< any
  special     ///< infinities, and NaN of any payload
};
inline constexpr int unit_starts = 6;
inline constexpr const char* unit_start_names[unit_starts] = {"zero", "near", "far", "finite", "subnormal", "special"};

/// An element of a unit's format from its sign, exponent and fraction bits; of a float the dropped bits are random.
template <class T>
KOKKOS_FUNCTION T unit_element(std::uint32_t pattern, std::uint64_t random) {
  if constexpr (std::is_same_v<T, float>)
    return num::from_bits<float>(pattern << 13 | (static_cast<std::uint32_t>(random >> 20) & 0x1fffu));
  else
    return T::from_bits(static_cast<decltype(T::bits)>(pattern));
}

/// A finite element with this exponent, or the format's nearest; sign and fraction are random.
template <class T>
KOKKOS_FUNCTION T with_exponent(int exponent, std::uint64_t random) {
  using F = num::OperandFormat<T>;
  constexpr int highest = (1 << (F::width - 1 - F::fraction_bits)) - (F::has_infinity ? 2 : 1);
  const int field = exponent + F::bias;
  const auto clamped = static_cast<std::uint32_t>(field < 0 ? 0 : field > highest ? highest : field);
  const std::uint32_t fraction = static_cast<std::uint32_t>(random) & ((1u << F::fraction_bits) - 1);
  return unit_element<T>(
      static_cast<std::uint32_t>(random >> 63) << (F::width - 1) | clamped << F::fraction_bits | fraction, random);
}

/// A finite float with this exponent; below −126 a subnormal.
KOKKOS_FUNCTION inline float float_with_exponent(int exponent, std::uint64_t random) {
  const int clamped = exponent < -149 ? -149 : exponent > 127 ? 127 : exponent;
  const std::uint32_t sign = static_cast<std::uint32_t>(random >> 63) << 31;
  const std::uint32_t significand = 0x800000u | (static_cast<std::uint32_t>(random) & 0x7fffffu);
  if (clamped < -126) return num::from_bits<float>(sign | significand >> (-126 - clamped));
  return num::from_bits<float>(sign | (static_cast<std::uint32_t>(clamped + 127) << 23) | (significand & 0x7fffffu));
}

template <class T>
KOKKOS_FUNCTION T negated(T x) {
  if constexpr (std::is_same_v<T, float>)
    return num::from_bits<float>(num::to_bits(x) ^ 0x80000000u);
  else
    return T::from_bits(static_cast<decltype(T::bits)>(x.bits ^ 1u << (8 * sizeof(T) - 1)));
}

/// The operands a(tile, row, k), b(tile, column, k) and the accumulators c(tile, row, column) of a seed.
template <class A, class B>
struct UnitData {
  std::uint64_t seed;

  KOKKOS_FUNCTION UnitKind kind(int tile) const { return static_cast<UnitKind>(tile % unit_kinds); }

  KOKKOS_FUNCTION A a(int tile, int row, int k) const {
    const bool pairs = kind(tile) == UnitKind::cancelling;
    return operand<A>(tile, 0, row, pairs ? k & ~1 : k);
  }
  KOKKOS_FUNCTION B b(int tile, int column, int k) const {
    const bool pairs = kind(tile) == UnitKind::cancelling && k % 2 == 1 && random(tile, 2, column, k) % 4 != 0;
    return pairs ? negated(operand<B>(tile, 1, column, k - 1)) : operand<B>(tile, 1, column, k);
  }
  KOKKOS_FUNCTION UnitStart start(int tile, int row, int column) const {
    constexpr UnitStart of[8] = {UnitStart::zero, UnitStart::zero,   UnitStart::near,      UnitStart::near,
                                 UnitStart::far,  UnitStart::finite, UnitStart::subnormal, UnitStart::special};
    return of[random(tile, 3, row, column) >> 60 & 7];
  }
  KOKKOS_FUNCTION float c(int tile, int row, int column) const {
    const std::uint64_t h = random(tile, 4, row, column);
    const auto choice = static_cast<int>(h >> 40 & 0xffff);
    const auto bits = static_cast<std::uint32_t>(h);
    switch (start(tile, row, column)) {
      case UnitStart::zero: return num::from_bits<float>(bits & 0x80000000u);
      case UnitStart::near: return float_with_exponent(product_exponent(tile, row, column) + choice % 8 - 3, h);
      case UnitStart::far: return float_with_exponent(product_exponent(tile, row, column) + choice % 61 - 30, h);
      case UnitStart::finite: return float_with_exponent(choice % 254 - 126, h);
      case UnitStart::subnormal: return num::from_bits<float>(bits & 0x807fffffu);
      case UnitStart::special: break;
    }
    return num::from_bits<float>(0x7f800000u | (choice % 2 ? bits & 0x80000000u : bits));
  }

 private:
  template <class T>
  static constexpr int low = 1 - num::OperandFormat<T>::bias < -75 ? -75 : 1 - num::OperandFormat<T>::bias;
  template <class T>
  static constexpr int high = num::OperandFormat<T>::bias - 2 > 62 ? 62 : num::OperandFormat<T>::bias - 2;

  KOKKOS_FUNCTION std::uint64_t random(int tile, int what, int i, int j) const {
    return verify::random_bits(seed << 40 | static_cast<std::uint64_t>(tile) << 8 | static_cast<std::uint64_t>(what),
                               static_cast<std::uint64_t>(i) << 20 | static_cast<std::uint64_t>(j));
  }

  /// The exponent of a row's or column's elements, where the tile's kind is level.
  template <class T>
  KOKKOS_FUNCTION int level(int tile, int side, int line) const {
    constexpr int lowest = 1 - num::OperandFormat<T>::bias;
    return lowest + static_cast<int>(random(tile, 5, side, line) % (2 * num::OperandFormat<T>::bias));
  }

  KOKKOS_FUNCTION int product_exponent(int tile, int row, int column) const {
    switch (kind(tile)) {
      case UnitKind::gaussian: return 2;
      case UnitKind::cancelling: return -12;
      case UnitKind::level: return level<A>(tile, 0, row) + level<B>(tile, 1, column);
      case UnitKind::smallest: return low<A> + low<B>;
      case UnitKind::largest: return high<A> + high<B>;
      case UnitKind::sparse: return low<A> / 2 + low<B>;
      default: return 0;
    }
  }

  template <class T>
  KOKKOS_FUNCTION T operand(int tile, int side, int line, int k) const {
    const std::uint64_t h = random(tile, 6 + side, line, k);
    const auto choice = static_cast<int>(h >> 40 & 0xffff);
    constexpr int width = num::OperandFormat<T>::width;
    constexpr int fields = 1 << (width - 1 - num::OperandFormat<T>::fraction_bits);
    switch (kind(tile)) {
      case UnitKind::gaussian: {
        int sum = 0;  // of 8 uniform numbers
        for (int i = 0; i < 2; ++i) {
          const std::uint64_t word = random(tile, 8 + 2 * side + i, line, k);
          for (int j = 0; j < 4; ++j) sum += static_cast<int>(word >> (16 * j) & 0xffff);
        }
        return T(static_cast<float>(sum - 4 * 65535) * 0x1p-16f);
      }
      case UnitKind::level: return with_exponent<T>(level<T>(tile, side, line) + choice % 5 - 2, h);
      case UnitKind::finite: return with_exponent<T>(choice % fields - num::OperandFormat<T>::bias, h);
      case UnitKind::smallest: return with_exponent<T>(low<T> + choice % 5 - 2, h);
      case UnitKind::largest: return with_exponent<T>(high<T> + choice % 5 - 2, h);
      case UnitKind::sparse:
        if (choice % 4 != 0) return unit_element<T>(static_cast<std::uint32_t>(h >> 63) << (width - 1), 0);
        return with_exponent<T>((side == 0 ? low<T> / 2 : low<T>)+choice / 4 % 5 - 2, h);
      case UnitKind::rare:
        if (choice % 64 == 0) return unit_element<T>(static_cast<std::uint32_t>(h) & ((1u << width) - 1), h);
        if (choice % 64 == 1) {  // zero, infinity, or e4m3's largest
          const std::uint32_t end = choice / 64 % 2 ? static_cast<std::uint32_t>(fields - 1) : 0u;
          return unit_element<T>(
              static_cast<std::uint32_t>(h >> 63) << (width - 1) | end << num::OperandFormat<T>::fraction_bits, 0);
        }
        return with_exponent<T>(-(choice / 64 % 9), h);
      case UnitKind::patterns: return unit_element<T>(static_cast<std::uint32_t>(h) & ((1u << width) - 1), h);
      default: return with_exponent<T>(-(choice % 9), h);
    }
  }
};

}  // namespace invar::test

#endif
