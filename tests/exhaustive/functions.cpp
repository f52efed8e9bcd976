// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// exhaustive.functions NAME|all [STRIDE]: runs the named function over all 2^32 floats and compares the digest of the
// results with the stored one, and the error at every STRIDE-th input (default 16; 1 checks all; 0 none) with the
// stated bound. Prints one line for each function: name, digest, largest error in ulp, its argument, seconds.
//
// Functions of whole vectors are held to the digest of the scalar ones, and not to their error again.
//
// The digest: XXH64 of the result bits, little-endian, of each block of 2^20 consecutive inputs (as integers), then
// XXH64 of the 4096 block digests in order. It depends neither on the number of threads nor on any libm.
#include "digests.hpp"
#include "support/ulp.hpp"

#include <invar/backends/host/attention_vector.hpp>
#include <invar/num/elementary.hpp>
#include <invar/verify/xxhash.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace num = invar::num;

// The function over a block, in a plain loop that vectorises, and its yardstick in double, null where the digest is
// another function's.
struct Function {
  const char* name;
  void (*block)(float* results, std::uint32_t first, std::uint32_t count);
  double (*reference)(double);
};

template <class F>
void each(float* results, std::uint32_t first, std::uint32_t count, F f) {
  for (std::uint32_t i = 0; i < count; ++i) results[i] = f(num::from_bits<float>(first + i));
}

// Attention's own, which leaves a NaN as it is.
void attention_exp2(float* results, std::uint32_t first, std::uint32_t count) {
  using V = invar::backends::host::Vector<float>;
  float x[V::lanes], y[V::lanes];
  for (std::uint32_t i = 0; i < count; i += V::lanes) {
    const std::uint32_t here = std::min<std::uint32_t>(V::lanes, count - i);
    for (std::uint32_t l = 0; l < V::lanes; ++l) x[l] = num::from_bits<float>(first + i + l);
    canonical(invar::backends::host::attention::power_of_two(V::load(x))).store(y);
    std::copy_n(y, here, results + i);
  }
}

#define INVAR_TEST_FUNCTION(name, yardstick)                                            \
  {                                                                                     \
#name,                                                                                \
   [](float* results, std::uint32_t first, std::uint32_t count) {                        \
     each(results, first, count, [](float x) { return num::name(x); });                  \
   },                                                                                    \
   [](double x) { return yardstick(x); } \
  }

constexpr Function functions[] = {
    INVAR_TEST_FUNCTION(exp, std::exp),   INVAR_TEST_FUNCTION(exp2, std::exp2),
    {"exp2", attention_exp2, nullptr},    INVAR_TEST_FUNCTION(log, std::log),
    INVAR_TEST_FUNCTION(tanh, std::tanh), INVAR_TEST_FUNCTION(sigmoid, invar::test::sigmoid),
    INVAR_TEST_FUNCTION(erf, std::erf),   INVAR_TEST_FUNCTION(sin, std::sin),
    INVAR_TEST_FUNCTION(cos, std::cos),
};

struct Error {
  double ulp = 0;
  std::uint32_t argument = 0;

  // The larger error; of equal ones the smaller argument, so that the threads' order does not matter.
  void include(double other_ulp, std::uint32_t other_argument) {
    if (other_ulp > ulp || (other_ulp == ulp && other_argument < argument)) {
      ulp = other_ulp;
      argument = other_argument;
    }
  }
};

constexpr std::uint32_t block_size = 1u << 20;
constexpr std::uint32_t blocks = 1u << 12;

// The bytes of a digest, lowest first.
void update(invar::verify::Xxh64& hash, std::uint64_t word) {
  unsigned char bytes[8];
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<unsigned char>(word >> (8 * i));
  hash.update(bytes, sizeof bytes);
}

bool check(const Function& function, const invar::test::Expected& expected, std::uint32_t stride) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::uint64_t> digests(blocks);
  Error worst;
  float at_worst = 0;
  if (function.reference == nullptr) stride = 0;
  function.block(&at_worst, num::to_bits(expected.worst), 1);
  if (function.reference != nullptr)
    worst.include(invar::test::error_in_ulp(at_worst, function.reference(expected.worst)),
                  num::to_bits(expected.worst));

  std::atomic<std::uint32_t> next{0};
  std::mutex mutex;
  const auto work = [&] {
    std::vector<float> results(block_size);
    Error own;
    for (std::uint32_t b = next++; b < blocks; b = next++) {
      const std::uint32_t first = b * block_size;
      function.block(results.data(), first, block_size);
      invar::verify::Xxh64 hash;
      hash.update(results.data(), results.size() * sizeof(float));
      digests[b] = hash.digest();
      // Blocks start at different inputs, so that a stride of a power of two does not see the same low bits everywhere.
      for (std::uint32_t i = stride == 0 ? block_size : b % stride; i < block_size; i += stride)
        own.include(invar::test::error_in_ulp(results[i], function.reference(num::from_bits<float>(first + i))),
                    first + i);
    }
    const std::lock_guard lock(mutex);
    worst.include(own.ulp, own.argument);
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();

  invar::verify::Xxh64 hash;
  for (const std::uint64_t digest : digests) update(hash, digest);
  const std::uint64_t digest = hash.digest();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const bool same = digest == expected.digest;
  const bool accurate = worst.ulp <= expected.error_bound;
  std::printf("%-8s %016llx  %.4f ulp at %a  %.1f s%s%s\n", function.name, static_cast<unsigned long long>(digest),
              worst.ulp, static_cast<double>(num::from_bits<float>(worst.argument)), seconds,
              same ? "" : "  WRONG BITS", accurate ? "" : "  TOO INACCURATE");
  std::fflush(stdout);
  return same && accurate;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "all";
  const auto stride = static_cast<std::uint32_t>(argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 16);
  int checked = 0;
  bool passed = true;
  for (const Function& function : functions)
    for (const invar::test::Expected& expected : invar::test::expected)
      if (function.name == std::string(expected.name) && (name == "all" || name == function.name)) {
        passed &= check(function, expected, stride);
        ++checked;
      }
  if (checked < (name == "all" ? static_cast<int>(std::size(functions)) : 1)) {
    std::fprintf(stderr, "no stored digest for %s\n", name.c_str());
    return 2;
  }
  return passed ? 0 : 1;
}
