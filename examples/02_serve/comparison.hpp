// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The same requests answered on several devices and in several ways, compared token by token.
#ifndef SERVE_COMPARISON_HPP
#define SERVE_COMPARISON_HPP

#include "scheduler.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

namespace serve {

/// One way to answer all requests, and what came out.
struct DeviceRun {
  std::string device;
  std::string batch;                    ///< how requests were put together, in words
  std::string steps;                    ///< how decode steps were launched, in words
  std::vector<Completion> completions;  ///< a request each
  RunStatistics statistics;
};

/// Where the logits of two runs part.
struct LogitsDifference {
  std::size_t request;
  std::size_t token;  ///< of the answer
};

/// The first request, and its first token, whose logits or the choice from them differ; nothing where all are equal.
std::optional<LogitsDifference> first_difference(const std::vector<Completion>& a, const std::vector<Completion>& b);

/// Tokens that were chosen from equal logits, all tokens of the answer before them included.
std::size_t equal_tokens(const std::vector<Completion>& a, const std::vector<Completion>& b);

/// One digest for the logits of all requests.
std::uint64_t digest_of_all(const std::vector<Completion>& completions);

/// Prints a line per run and a last one that begins with "summary:"; the first run is what the others are held against.
/// Returns whether all are equal.
bool print_comparison(std::FILE* out, const std::vector<DeviceRun>& runs, const std::string& kernels,
                      std::size_t vocabulary);

}  // namespace serve

#endif
