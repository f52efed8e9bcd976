// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// A scalar whose value is the hash of the expression that produced it.
#ifndef INVAR_VERIFY_TRACE_HPP
#define INVAR_VERIFY_TRACE_HPP

#include <invar/num/bits.hpp>
#include <invar/num/symbolic.hpp>

#include <Kokkos_Macros.hpp>
#include <cstdint>
#include <type_traits>

namespace invar::verify {

/// Kernels are templates over their element type. Run on Trace, they do not compute: each operation hashes its name and
/// its operands. Two results are equal exactly when the same expression tree produced them (up to 64-bit collisions),
/// so equality with the reference proves the order of a schedule for any data, where random floats may hide a swap.
///
/// The hash knows only identities that hold for every float, bit for bit: a + b = b + a, a·b = b·a, a + (−0) = a,
/// fma(a, b, −0) = a·b, max(a, −∞) = a, min(a, +∞) = a, and that max and min are associative and commutative.
struct Trace {
  using invar_symbolic = void;

  std::uint64_t hash;

  Trace() = default;

  /// A constant of the kernel.
  template <class T>
  requires std::is_arithmetic_v<T> KOKKOS_FUNCTION explicit Trace(T constant)
      : hash(hash_constant(static_cast<double>(constant))) {}

  /// The symbol of an input element: distinct for distinct ids.
  KOKKOS_FUNCTION static Trace input(std::uint64_t id) { return from_hash(mix(id + 0x9e3779b97f4a7c15u)); }

  KOKKOS_FUNCTION static Trace from_hash(std::uint64_t h) {
    Trace t;
    t.hash = h;
    return t;
  }

  KOKKOS_FUNCTION static Trace apply(num::Operation op, Trace a) { return from_hash(mix(tag(op) ^ mix(a.hash))); }

  KOKKOS_FUNCTION static Trace apply(num::Operation op, Trace a, Trace b) {
    using num::Operation;
    if (op == Operation::add) {
      if (a.hash == minus_zero) return b;
      if (b.hash == minus_zero) return a;
    }
    // −∞ and +∞ have hash 0, so that they vanish from the sum that stands for an extremum. A row never mixes them.
    if (op == Operation::max || op == Operation::min) return from_hash(a.hash + b.hash);
    if (op == Operation::add || op == Operation::mul) return from_hash(mix(tag(op) ^ (mix(a.hash) + mix(b.hash))));
    return from_hash(mix(tag(op) ^ (mix(a.hash) + 3 * mix(~b.hash))));
  }

  KOKKOS_FUNCTION static Trace apply(num::Operation op, Trace a, Trace b, Trace c) {
    if (c.hash == minus_zero) return apply(num::Operation::mul, a, b);
    return from_hash(mix(tag(op) ^ (mix(a.hash) + mix(b.hash) + 5 * mix(~c.hash))));
  }

  KOKKOS_FUNCTION friend bool operator==(Trace a, Trace b) { return a.hash == b.hash; }
  KOKKOS_FUNCTION friend bool operator!=(Trace a, Trace b) { return a.hash != b.hash; }

 private:
  static constexpr std::uint64_t minus_zero = 0x6d696e75737a6572u;

  KOKKOS_FUNCTION static std::uint64_t tag(num::Operation op) {
    return static_cast<std::uint64_t>(op) * 0xd6e8feb86659fd93u;
  }

  /// The finaliser of SplitMix64 (Steele, Lea and Flood, 2014): a bijection that spreads every bit.
  KOKKOS_FUNCTION static std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  }

  KOKKOS_FUNCTION static std::uint64_t hash_constant(double x) {
    if (x == 0 && num::is_negative(x)) return minus_zero;
    if (x != 0 && x + x == x) return 0;
    return mix(num::to_bits(x) ^ 0x636f6e7374616e74u);
  }
};

static_assert(num::Symbolic<Trace> && std::is_trivially_copyable_v<Trace>);

}  // namespace invar::verify

#endif
