// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "comparison.hpp"

#include <invar/verify/digest.hpp>
#include <invar/verify/xxhash.hpp>

#include <algorithm>

namespace serve {
namespace {

std::size_t count_tokens(const std::vector<Completion>& completions) {
  std::size_t tokens = 0;
  for (const Completion& completion : completions) tokens += completion.tokens.size();
  return tokens;
}

/// The answer's tokens up to the first whose logits, or the choice from them, differ. A digest holds all logits so far.
std::size_t common_tokens(const Completion& a, const Completion& b) {
  const std::size_t both = std::min(a.tokens.size(), b.tokens.size());
  std::size_t token = 0;
  while (token < both && a.digests[token] == b.digests[token] && a.tokens[token] == b.tokens[token]) ++token;
  return token;
}

}  // namespace

std::optional<LogitsDifference> first_difference(const std::vector<Completion>& a, const std::vector<Completion>& b) {
  for (std::size_t request = 0; request < a.size() && request < b.size(); ++request) {
    const std::size_t token = common_tokens(a[request], b[request]);
    if (token < std::max(a[request].tokens.size(), b[request].tokens.size())) return LogitsDifference{request, token};
  }
  if (a.size() != b.size()) return LogitsDifference{std::min(a.size(), b.size()), 0};
  return std::nullopt;
}

std::size_t equal_tokens(const std::vector<Completion>& a, const std::vector<Completion>& b) {
  std::size_t tokens = 0;
  for (std::size_t request = 0; request < a.size() && request < b.size(); ++request)
    tokens += common_tokens(a[request], b[request]);
  return tokens;
}

std::uint64_t digest_of_all(const std::vector<Completion>& completions) {
  invar::verify::Xxh64 hash;
  for (const Completion& completion : completions)
    for (int byte = 0; byte < 8; ++byte) {
      const auto value = static_cast<unsigned char>(completion.logits_digest >> (8 * byte));
      hash.update(&value, 1);
    }
  return hash.digest();
}

bool print_comparison(std::FILE* out, const std::vector<DeviceRun>& runs, const std::string& kernels,
                      std::size_t vocabulary) {
  const std::vector<Completion>& expected = runs.front().completions;
  const std::size_t tokens = count_tokens(expected);
  std::fprintf(out, "\nDigests of all logits of all requests (%s kernels):\n", kernels.c_str());
  std::fprintf(out, "  %-24s  %-11s  %-12s  %8s  %-16s  %s\n", "device", "batch", "decode steps", "tokens/s", "digest",
               "tokens with the first line's logits");
  for (const DeviceRun& run : runs)
    std::fprintf(out, "  %-24s  %-11s  %-12s  %8.1f  %s  %zu of %zu\n", run.device.c_str(), run.batch.c_str(),
                 run.steps.c_str(), static_cast<double>(run.statistics.answer_tokens) / run.statistics.seconds,
                 invar::verify::to_hex(digest_of_all(run.completions)).c_str(), equal_tokens(expected, run.completions),
                 tokens);
  std::fprintf(out, "\n");
  std::size_t different = 0;
  for (std::size_t i = 1; i < runs.size(); ++i) {
    const auto difference = first_difference(expected, runs[i].completions);
    if (!difference) continue;
    ++different;
    std::fprintf(out, "line %zu: the logits part from the first line's at token %zu of request %zu\n", i + 1,
                 difference->token + 1, difference->request);
  }
  std::fprintf(out, "summary: %s kernels: %zu requests, %zu tokens, %zu logits in each of %zu runs: ", kernels.c_str(),
               expected.size(), tokens, tokens * vocabulary, runs.size());
  if (different == 0)
    std::fprintf(out, "all equal\n");
  else
    std::fprintf(out, "%zu DIFFERENT\n", different);
  return different == 0;
}

}  // namespace serve
