// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The values that the invariance tests walk along each axis.
#ifndef INVAR_TESTS_SUPPORT_AXES_HPP
#define INVAR_TESTS_SUPPORT_AXES_HPP

#include "environment.hpp"

#include <cstdint>
#include <vector>

namespace invar::test {

/// Batch sizes: every one to 33, then primes and powers of two ± 1.
inline std::vector<std::int64_t> batch_sizes() {
  if (is_small()) return by_size<std::int64_t>({}, {1, 2, 3, 4, 5, 8, 13, 31, 33});
  std::vector<std::int64_t> sizes;
  for (std::int64_t m = 1; m <= 33; ++m) sizes.push_back(m);
  for (const std::int64_t m : {37, 47, 61, 63, 64, 65, 89, 127, 128, 129, 191, 255, 256, 257}) sizes.push_back(m);
  return sizes;
}

/// Positions in a batch of batch_sizes().back() rows.
inline std::vector<std::int64_t> positions() {
  return by_size<std::int64_t>({0, 1, 2, 7, 31, 32, 33, 63, 64, 100, 128, 200, 255, 256}, {0, 1, 7, 32});
}

/// Row lengths around the boundaries of lanes (64), leaves (512) and groups of leaves.
inline std::vector<std::int64_t> row_lengths() {
  return by_size<std::int64_t>({1,   2,    3,    15,   63,   64,   65,   100,  127,  128,  129,  511,  512,  513,
                                576, 1023, 1024, 1025, 1537, 2047, 2049, 3583, 4096, 4097, 5000, 6144, 8191, 16385},
                               {1, 2, 63, 64, 65, 511, 512, 513, 1025, 2049, 5000});
}

/// Offsets of a row's first element from an aligned address, in elements.
inline std::vector<std::int64_t> alignment_offsets() {
  return by_size<std::int64_t>({0, 1, 2, 3, 5, 8, 15, 16}, {0, 1, 3});
}

}  // namespace invar::test

#endif
