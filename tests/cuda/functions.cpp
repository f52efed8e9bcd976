// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The elementary functions and conversions on the device: all 2^32 inputs have the digests that hosts have.
#include "exhaustive/digests.hpp"
#include "support/environment.hpp"

#include <doctest/doctest.h>

#include <invar/num/elementary.hpp>
#include <invar/num/types.hpp>
#include <invar/verify/host_copy.hpp>
#include <invar/verify/xxhash.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

using namespace invar;
using invar::test::Execution;

namespace {

// clang-format off
struct Exp { KOKKOS_FUNCTION float operator()(float x) const { return num::exp(x); } };
struct Exp2 { KOKKOS_FUNCTION float operator()(float x) const { return num::exp2(x); } };
struct Log { KOKKOS_FUNCTION float operator()(float x) const { return num::log(x); } };
struct Tanh { KOKKOS_FUNCTION float operator()(float x) const { return num::tanh(x); } };
struct Sigmoid { KOKKOS_FUNCTION float operator()(float x) const { return num::sigmoid(x); } };
struct Erf { KOKKOS_FUNCTION float operator()(float x) const { return num::erf(x); } };
struct Sin { KOKKOS_FUNCTION float operator()(float x) const { return num::sin(x); } };
struct Cos { KOKKOS_FUNCTION float operator()(float x) const { return num::cos(x); } };
// clang-format on

constexpr std::uint32_t block_size = 1u << 20;
constexpr std::uint32_t blocks = 1u << 12;
constexpr std::uint32_t blocks_at_once = 256;

void update(verify::Xxh64& hash, std::uint64_t word) {
  unsigned char bytes[8];
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<unsigned char>(word >> (8 * i));
  hash.update(bytes, sizeof bytes);
}

/// results(i) = the bits of function(first + i), the argument's bits counted up.
template <class Function>
void evaluate(const Kokkos::View<std::uint32_t*, Execution>& results, std::uint32_t first) {
  Kokkos::parallel_for(
      "evaluate", Kokkos::RangePolicy<Execution>(0, static_cast<int>(results.extent(0))), KOKKOS_LAMBDA(int i) {
        const float x = num::from_bits<float>(first + static_cast<std::uint32_t>(i));
        results(i) = num::to_bits(Function()(x));
      });
}

/// As in tests/exhaustive/functions.cpp: the digest of the block digests.
template <class Function>
std::uint64_t digest_of_all_inputs() {
  const Kokkos::View<std::uint32_t*, Execution> results("results", std::size_t{blocks_at_once} * block_size);
  const auto host = Kokkos::create_mirror_view(Kokkos::SharedHostPinnedSpace{}, results);
  std::vector<std::uint64_t> digests(blocks);
  const std::uint32_t threads = std::max(1u, std::thread::hardware_concurrency());
  for (std::uint32_t begin = 0; begin < blocks; begin += blocks_at_once) {
    evaluate<Function>(results, begin * block_size);
    Kokkos::deep_copy(host, results);
    std::vector<std::thread> workers;
    for (std::uint32_t t = 0; t < threads; ++t)
      workers.emplace_back([&, t] {
        for (std::uint32_t b = t; b < blocks_at_once; b += threads) {
          verify::Xxh64 hash;
          hash.update(&host(std::size_t{b} * block_size), block_size * sizeof(std::uint32_t));
          digests[begin + b] = hash.digest();
        }
      });
    for (std::thread& worker : workers) worker.join();
  }
  verify::Xxh64 hash;
  for (const std::uint64_t digest : digests) update(hash, digest);
  return hash.digest();
}

/// A sample of inputs with the host's own results, for machines where all would take too long.
template <class Function>
int differences_in_a_sample() {
  constexpr int n = 1 << 14;
  const Kokkos::View<std::uint32_t*, Execution> results("results", n);
  int differing = 0;
  for (std::uint32_t sample = 0; sample < 64; ++sample) {
    const std::uint32_t first = sample << 26;
    evaluate<Function>(results, first);
    const auto host = verify::on_host(results);
    for (std::uint32_t i = 0; i < n; ++i)
      differing += host(i) != num::to_bits(Function()(num::from_bits<float>(first + i)));
  }
  return differing;
}

template <class Function>
void check(const char* name) {
  CAPTURE(name);
  CHECK(differences_in_a_sample<Function>() == 0);
  if (test::is_small()) return;
  for (const test::Expected& expected : test::expected)
    if (expected.name == std::string(name)) CHECK(digest_of_all_inputs<Function>() == expected.digest);
}

}  // namespace

TEST_CASE("every elementary function has the host's bits for every float") {
  check<Exp>("exp");
  check<Exp2>("exp2");
  check<Log>("log");
  check<Tanh>("tanh");
  check<Sigmoid>("sigmoid");
  check<Erf>("erf");
  check<Sin>("sin");
  check<Cos>("cos");
}

TEST_CASE("negative control: another function has other bits") {
  const Kokkos::View<std::uint32_t*, Execution> results("results", 1000);
  evaluate<Sin>(results, num::to_bits(1.0f));
  const auto host = verify::on_host(results);
  int differing = 0;
  for (std::uint32_t i = 0; i < 1000; ++i)
    differing += host(i) != num::to_bits(Cos()(num::from_bits<float>(num::to_bits(1.0f) + i)));
  CHECK(differing == 1000);
}

TEST_CASE_TEMPLATE("conversions to and from a 16-bit type have the host's bits", T, bfloat16_t, float16_t) {
  constexpr int n = 1 << 22;
  const Kokkos::View<std::uint32_t*, Execution> wide("wide", 65536);
  const Kokkos::View<std::uint16_t*, Execution> narrow("narrow", n);
  Kokkos::parallel_for(
      "widen", Kokkos::RangePolicy<Execution>(0, 65536), KOKKOS_LAMBDA(int i) {
        wide(i) = num::to_bits(static_cast<float>(T::from_bits(static_cast<std::uint16_t>(i))));
      });
  // Every 1021st float: all exponents, and fractions on both sides of every midpoint.
  Kokkos::parallel_for(
      "narrow", Kokkos::RangePolicy<Execution>(0, n),
      KOKKOS_LAMBDA(int i) { narrow(i) = T(num::from_bits<float>(static_cast<std::uint32_t>(i) * 1021u)).bits; });
  const auto wide_host = verify::on_host(wide);
  const auto narrow_host = verify::on_host(narrow);
  int differing = 0;
  for (int i = 0; i < 65536; ++i)
    differing += wide_host(i) != num::to_bits(static_cast<float>(T::from_bits(static_cast<std::uint16_t>(i))));
  for (int i = 0; i < n; ++i)
    differing += narrow_host(i) != T(num::from_bits<float>(static_cast<std::uint32_t>(i) * 1021u)).bits;
  CHECK(differing == 0);
}
