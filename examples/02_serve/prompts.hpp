// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The questions that the example asks, and a seeded draw from them.
#ifndef SERVE_PROMPTS_HPP
#define SERVE_PROMPTS_HPP

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace serve {

/// A few questions of different length, so that a batch mixes short and long prompts.
std::vector<std::string> built_in_prompts();

/// One prompt per line; empty lines are skipped. Throws std::runtime_error when the file cannot be read or holds none.
std::vector<std::string> read_prompts(const std::filesystem::path& path);

/// A random integer generator (SplitMix64) with the same sequence on every platform.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  /// A number in [0, bound), bound > 0; the bias of less than bound / 2^64 does not matter here.
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }

 private:
  std::uint64_t state_;
};

/// Indices of the prompts of `requests` requests: each prompt once, as far as that goes, the rest at random, all in
/// random order. So with more requests than prompts some prompts occur several times.
std::vector<std::size_t> draw_prompts(std::size_t prompts, std::size_t requests, Random& random);

}  // namespace serve

#endif
