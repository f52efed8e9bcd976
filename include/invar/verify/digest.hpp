// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The digest of a view: what the ledger holds, and what two machines compare.
#ifndef INVAR_VERIFY_DIGEST_HPP
#define INVAR_VERIFY_DIGEST_HPP

#include <invar/verify/host_copy.hpp>
#include <invar/verify/xxhash.hpp>

#include <cstdint>
#include <cstdio>
#include <string>

namespace invar::verify {

/// XXH64 of the view's elements in logical order (last index fastest), each as its little-endian bits. Layout, strides,
/// padding and memory space do not enter; for a NumPy array it is `xxhash.xxh64(a.tobytes())`. Waits for the execution
/// spaces that may still write the view, and copies device memory to the host.
template <class V>
std::uint64_t digest(const V& v) {
  Xxh64 hash;
  for_each_element(v, [&](const auto& element) {
    const auto bits = element_bits(element);
    unsigned char bytes[sizeof bits];
    for (std::size_t i = 0; i < sizeof bits; ++i) bytes[i] = static_cast<unsigned char>(bits >> (8 * i));
    hash.update(bytes, sizeof bits);
  });
  return hash.digest();
}

/// A digest as 16 hexadecimal digits.
inline std::string to_hex(std::uint64_t digest) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(digest));
  return text;
}

}  // namespace invar::verify

#endif
