// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Test data whose sums are never exact by luck.
#ifndef INVAR_TESTS_SUPPORT_DATA_HPP
#define INVAR_TESTS_SUPPORT_DATA_HPP

#include <invar/verify/random.hpp>

#include <cstdint>
#include <type_traits>

namespace invar::test {

/// verify::fill_random; a double also gets low bits, because sums of its 24-bit values are exact in any order.
template <class V>
void fill_data(const V& v, std::uint64_t seed) {
  verify::fill_random(v, seed);
  if constexpr (std::is_same_v<typename V::value_type, double>) {
    auto add_low_bits = [index = std::uint64_t{0}, seed](double& x) mutable {
      x += 0x1p-27 * verify::random_value<float>(~seed, index++);
    };
    if constexpr (static_cast<int>(V::rank) == 1)
      for (std::int64_t i = 0; i < static_cast<std::int64_t>(v.extent(0)); ++i) add_low_bits(v(i));
    else
      for (std::int64_t i = 0; i < static_cast<std::int64_t>(v.extent(0)); ++i)
        for (std::int64_t j = 0; j < static_cast<std::int64_t>(v.extent(1)); ++j) add_low_bits(v(i, j));
  }
}

}  // namespace invar::test

#endif
