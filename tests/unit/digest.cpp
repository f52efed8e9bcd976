// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <doctest/doctest.h>

#include <invar/verify/digest.hpp>
#include <invar/verify/random.hpp>

#include <cstdint>
#include <string>
#include <vector>

using namespace invar;

namespace {

std::uint64_t hash(const std::string& text) {
  verify::Xxh64 h;
  h.update(text.data(), text.size());
  return h.digest();
}

std::vector<unsigned char> counting_bytes(int n) {
  std::vector<unsigned char> bytes(n);
  for (int i = 0; i < n; ++i) bytes[i] = static_cast<unsigned char>(i * 7 + 3);
  return bytes;
}

}  // namespace

// The values are those of xxhash.xxh64(data).hexdigest() of Python's xxhash 4.1.0.
TEST_CASE("XXH64 has the published values") {
  CHECK(hash("") == 0xef46db3751d8e999u);
  CHECK(hash("a") == 0xd24ec4f1a98c6e5bu);
  CHECK(hash("abc") == 0x44bc2cf5ad770999u);
  CHECK(hash("Invar keeps its size.") == 0x5e722a2b91ee4ac1u);
  const std::pair<int, std::uint64_t> known[] = {
      {3, 0x31d2363f52e564c9u},  {4, 0x9bb64b7d66ee9fdau},  {7, 0x9a7b149959ce60d8u},   {8, 0xdab99d95c6f90092u},
      {31, 0xa2aa5f33cc4a6119u}, {32, 0x23c3c17ef790fd97u}, {33, 0x50a7cfc7ba588784u},  {63, 0x5e3e54b431c7493cu},
      {64, 0x0eb64b3ef6eeb01fu}, {65, 0xa383b724b2bd12f1u}, {100, 0xa61f8d4c170fe531u}, {1000, 0x5f235fa033f1a3fbu},
  };
  for (const auto& [n, expected] : known) {
    verify::Xxh64 h;
    h.update(counting_bytes(n).data(), n);
    INFO(n, " bytes");
    CHECK(h.digest() == expected);
  }
}

TEST_CASE("XXH64 as a stream does not depend on the pieces") {
  const auto bytes = counting_bytes(1000);
  for (const int piece : {1, 3, 8, 31, 32, 33, 64, 999}) {
    verify::Xxh64 h;
    for (int i = 0; i < 1000; i += piece) h.update(bytes.data() + i, std::min(piece, 1000 - i));
    INFO("pieces of ", piece);
    CHECK(h.digest() == 0x5f235fa033f1a3fbu);
  }
}

// xxhash.xxh64(numpy.array(…).tobytes()) for little-endian arrays.
TEST_CASE("the digest of a view is XXH64 of its elements' bytes") {
  Kokkos::View<float**, Kokkos::HostSpace> f("f", 2, 3);
  Kokkos::View<double*, Kokkos::HostSpace> d("d", 6);
  const double values[6] = {1, -0.0, 0.5, -2.25, 3e38, 1e-45};
  for (int i = 0; i < 6; ++i) {
    f(i / 3, i % 3) = static_cast<float>(values[i]);
    d(i) = values[i];
  }
  CHECK(verify::digest(f) == 0xbcac08ab604564bdu);
  CHECK(verify::digest(d) == 0xa8d980e17048e5a8u);
  Kokkos::View<std::int64_t*, Kokkos::HostSpace> i("i", 3);
  i(0) = -1;
  i(2) = 7;
  CHECK(verify::digest(i) == 0xb205defa1b5b9201u);
  CHECK(verify::to_hex(verify::digest(Kokkos::View<float*, Kokkos::HostSpace>())) == "ef46db3751d8e999");
  CHECK(verify::to_hex(1) == "0000000000000001");
}

TEST_CASE_TEMPLATE("layout, padding and memory traits do not enter the digest", T, float, double, bfloat16_t, float16_t,
                   verify::Trace) {
  Kokkos::View<T***, Kokkos::LayoutRight, Kokkos::HostSpace> right("right", 3, 4, 5);
  Kokkos::View<T***, Kokkos::LayoutLeft, Kokkos::HostSpace> left("left", 3, 4, 5), wide("wide", 6, 7, 8);
  verify::fill_random(right, 7);
  verify::fill_random(left, 7);
  verify::fill_random(wide, 1);
  const auto window = Kokkos::subview(wide, std::pair(1, 4), std::pair(2, 6), std::pair(3, 8));
  verify::fill_random(window, 7);
  CHECK(verify::digest(left) == verify::digest(right));
  CHECK(verify::digest(window) == verify::digest(right));
  CHECK(verify::digest(wide) != verify::digest(right));
}

TEST_CASE("one bit or a swap changes the digest") {
  Kokkos::View<float*, Kokkos::HostSpace> v("v", 1000);
  verify::fill_random(v, 3);
  const std::uint64_t before = verify::digest(v);
  v(999) = num::from_bits<float>(num::to_bits(v(999)) ^ 1u);
  CHECK(verify::digest(v) != before);
  v(999) = num::from_bits<float>(num::to_bits(v(999)) ^ 1u);
  CHECK(verify::digest(v) == before);
  std::swap(v(0), v(1));
  CHECK(verify::digest(v) != before);
}

TEST_CASE("random data: known values, in (-1, 1), the same for every layout") {
  CHECK(verify::random_bits(0, 0) == 0xe220a8397b1dcdafu);  // the first output of SplitMix64 with seed 0
  CHECK(verify::random_bits(0, 1) == 0x6e789e6aa1b965f4u);
  bool inside = true, positive = false, negative = false;
  for (int i = 0; i < 100000; ++i) {
    const float x = verify::random_value<float>(5, i);
    inside = inside && x > -1 && x < 1 && x != 0;
    positive = positive || x > 0.5f;
    negative = negative || x < -0.5f;
  }
  CHECK(inside);
  CHECK(positive);
  CHECK(negative);
  CHECK(verify::random_value<float>(1, 0) != verify::random_value<float>(2, 0));
}
