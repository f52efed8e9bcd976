// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// XXH64 with seed 0, as a stream.
#ifndef INVAR_VERIFY_XXHASH_HPP
#define INVAR_VERIFY_XXHASH_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace invar::verify {

/// The XXH64 hash of the bytes given so far (xxHash specification by Y. Collet, XXH64, seed 0), so that a digest can be
/// recomputed with any language's xxhash library.
class Xxh64 {
 public:
  void update(const void* data, std::size_t size) {
    const auto* p = static_cast<const unsigned char*>(data);
    total_ += size;
    if (filled_ + size < sizeof buffer_) {
      std::memcpy(buffer_ + filled_, p, size);
      filled_ += size;
      return;
    }
    if (filled_ != 0) {
      const std::size_t missing = sizeof buffer_ - filled_;
      std::memcpy(buffer_ + filled_, p, missing);
      stripe(buffer_);
      p += missing;
      size -= missing;
      filled_ = 0;
    }
    for (; size >= sizeof buffer_; p += sizeof buffer_, size -= sizeof buffer_) stripe(p);
    std::memcpy(buffer_, p, size);
    filled_ = size;
  }

  std::uint64_t digest() const {
    std::uint64_t h = prime5;
    if (total_ >= sizeof buffer_) {
      h = rotate(lane_[0], 1) + rotate(lane_[1], 7) + rotate(lane_[2], 12) + rotate(lane_[3], 18);
      for (const std::uint64_t lane : lane_) h = (h ^ round(0, lane)) * prime1 + prime4;
    }
    h += total_;
    const unsigned char* p = buffer_;
    std::size_t left = filled_;
    for (; left >= 8; p += 8, left -= 8) h = rotate(h ^ round(0, read<8>(p)), 27) * prime1 + prime4;
    if (left >= 4) {
      h = rotate(h ^ (read<4>(p) * prime1), 23) * prime2 + prime3;
      p += 4;
      left -= 4;
    }
    for (; left != 0; ++p, --left) h = rotate(h ^ (*p * prime5), 11) * prime1;
    h = (h ^ (h >> 33)) * prime2;
    h = (h ^ (h >> 29)) * prime3;
    return h ^ (h >> 32);
  }

 private:
  static constexpr std::uint64_t prime1 = 0x9e3779b185ebca87u, prime2 = 0xc2b2ae3d27d4eb4fu,
                                 prime3 = 0x165667b19e3779f9u, prime4 = 0x85ebca77c2b2ae63u,
                                 prime5 = 0x27d4eb2f165667c5u;

  static std::uint64_t rotate(std::uint64_t x, int n) { return (x << n) | (x >> (64 - n)); }
  static std::uint64_t round(std::uint64_t lane, std::uint64_t word) {
    return rotate(lane + word * prime2, 31) * prime1;
  }
  /// A little-endian word, whatever the host's byte order.
  template <int Bytes>
  static std::uint64_t read(const unsigned char* p) {
    std::uint64_t word = 0;
    for (int i = 0; i < Bytes; ++i) word |= static_cast<std::uint64_t>(p[i]) << (8 * i);
    return word;
  }
  void stripe(const unsigned char* p) {
    for (int i = 0; i < 4; ++i) lane_[i] = round(lane_[i], read<8>(p + 8 * i));
  }

  std::uint64_t lane_[4] = {prime1 + prime2, prime2, 0, 0 - prime1};
  std::uint64_t total_ = 0;
  unsigned char buffer_[32] = {};
  std::size_t filled_ = 0;
};

}  // namespace invar::verify

#endif
