// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Test data from an integer generator, so that it has the same bits on every machine.
#ifndef INVAR_VERIFY_RANDOM_HPP
#define INVAR_VERIFY_RANDOM_HPP

#include <invar/num/types.hpp>
#include <invar/verify/host_copy.hpp>
#include <invar/verify/trace.hpp>

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

namespace invar::verify {

/// 64 random bits that belong to (seed, index): SplitMix64 as a counter-based generator.
KOKKOS_INLINE_FUNCTION std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t x = seed * 0xd1342543de82ef95u + (index + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// A value of (−1, 1) whose magnitudes spread over 8 binades: an odd integer of 24 bits (53 for double) times a power
/// of two, so exact in float and double and rounded once in the 16-bit types. For Trace, the input symbol of (seed,
/// index).
template <class T>
KOKKOS_INLINE_FUNCTION T random_value(std::uint64_t seed, std::uint64_t index) {
  const std::uint64_t bits = random_bits(seed, index);
  if constexpr (num::Symbolic<T>) {
    return T::input(bits);
  } else if constexpr (std::is_same_v<T, double>) {
    const auto integer =
        static_cast<std::int64_t>(bits >> 11) * 2 + 1 - (std::int64_t{1} << 53);  // odd, in (−2^53, 2^53)
    const int binade = static_cast<int>(bits & 7u);
    const double scale = num::from_bits<double>(static_cast<std::uint64_t>(1023 - 53 - binade) << 52);
    return static_cast<double>(integer) * scale;
  } else {
    const auto integer = static_cast<std::int32_t>(bits >> 40) * 2 + 1 - (1 << 24);  // odd, in (−2^24, 2^24)
    const int binade = static_cast<int>(bits & 7u);
    const float scale = num::from_bits<float>(static_cast<std::uint32_t>(127 - 24 - binade) << 23);
    return static_cast<T>(static_cast<float>(integer) * scale);
  }
}

/// Fills a view of rank 0 to 4 with random_value(seed, flat logical index): the layout does not change the data.
/// Runs on the host and copies to a device's memory; waits for all that may still use the view, and until done.
template <class V>
void fill_random(const V& v, std::uint64_t seed) {
  using T = typename V::non_const_value_type;
  constexpr int rank = static_cast<int>(V::rank);
  Kokkos::fence("Invar::verify: a view is filled on the host");
  const auto host = [&] {
    if constexpr (is_host_accessible_v<V>)
      return v;
    else
      return Compact<V, Kokkos::HostSpace>("Invar::verify::host", compact_layout(v));
  }();
  std::int64_t n[4] = {1, 1, 1, 1};
  for (int d = 0; d < rank; ++d) n[4 - rank + d] = static_cast<std::int64_t>(v.extent(d));
  std::uint64_t flat = 0;
  for (std::int64_t a = 0; a < n[0]; ++a)
    for (std::int64_t b = 0; b < n[1]; ++b)
      for (std::int64_t c = 0; c < n[2]; ++c)
        for (std::int64_t d = 0; d < n[3]; ++d) {
          const T value = random_value<T>(seed, flat++);
          if constexpr (rank == 0) host() = value;
          if constexpr (rank == 1) host(d) = value;
          if constexpr (rank == 2) host(c, d) = value;
          if constexpr (rank == 3) host(b, c, d) = value;
          if constexpr (rank == 4) host(a, b, c, d) = value;
        }
  if constexpr (!is_host_accessible_v<V>) {
    const Compact<V, typename V::memory_space> compact("Invar::verify::compact", compact_layout(v));
    Kokkos::deep_copy(compact, host);
    Kokkos::deep_copy(v, compact);
  }
}

}  // namespace invar::verify

#endif
