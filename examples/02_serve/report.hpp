// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What a run showed: answers, digests alone and in the batch, and how many different answers a prompt got.
#ifndef SERVE_REPORT_HPP
#define SERVE_REPORT_HPP

#include "scheduler.hpp"
#include "tokenizer.hpp"

#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

namespace serve {

/// A run to report: request i asked prompts[requests[i].prompt] and got batched[i]; alone[p] is prompt p's answer when
/// it is the only request, where it was asked at all.
struct Outcome {
  const std::vector<std::string>& prompts;
  const std::vector<Request>& requests;
  const std::vector<Completion>& batched;
  const std::vector<std::optional<Completion>>& alone;
};

/// The different answers to one prompt.
struct PromptAnswers {
  std::vector<std::vector<Token>> distinct;     ///< the answer alone first
  std::optional<std::size_t> first_difference;  ///< index of the first token at which two of them differ
};

/// The answers to prompts[prompt]; none where nobody asked.
PromptAnswers collect_answers(const Outcome& outcome, std::size_t prompt);

/// Requests whose logits in the batch had the bits they have alone.
std::size_t equal_digests(const Outcome& outcome);

/// Prints answers, the table of requests, the speed, and a last line that begins with "summary:".
void print_report(std::FILE* out, const Outcome& outcome, const Tokenizer& tokenizer, const std::string& kernels,
                  const RunStatistics& batched, const RunStatistics& alone);

}  // namespace serve

#endif
