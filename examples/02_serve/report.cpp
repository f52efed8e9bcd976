// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report.hpp"

#include <invar/verify/digest.hpp>

#include <algorithm>
#include <cstdio>

namespace serve {
namespace {

std::optional<std::size_t> first_difference(const std::vector<Token>& a, const std::vector<Token>& b) {
  const auto [left, right] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (left == a.end() && right == b.end()) return std::nullopt;
  return static_cast<std::size_t>(left - a.begin());
}

std::string indented(const std::string& text) {
  std::string result = "    ";
  for (const char c : text) {
    result += c;
    if (c == '\n') result += "    ";
  }
  return result;
}

/// Keeps the smaller of two indices, where there are any.
void lower(std::optional<std::size_t>& least, const std::optional<std::size_t>& other) {
  if (other && (!least || *other < *least)) least = other;
}

/// What the answers to all prompts come to.
struct Totals {
  std::size_t prompts = 0;  // that were asked
  std::size_t distinct = 0;
  std::size_t most_distinct = 0;  // of one prompt
  std::optional<std::size_t> first_difference;

  void add(const PromptAnswers& answers) {
    ++prompts;
    distinct += answers.distinct.size();
    most_distinct = std::max(most_distinct, answers.distinct.size());
    lower(first_difference, answers.first_difference);
  }
};

void print_answers(std::FILE* out, const PromptAnswers& answers, const Tokenizer& tokenizer) {
  const std::size_t count = answers.distinct.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (count > 1) std::fprintf(out, "  answer %zu of %zu:\n", i + 1, count);
    std::fprintf(out, "%s\n", indented(tokenizer.decode(answers.distinct[i])).c_str());
  }
  if (answers.first_difference)
    std::fprintf(out, "  %zu different answers; the first token that differs is number %zu\n", count,
                 *answers.first_difference + 1);
}

void print_table(std::FILE* out, const Outcome& outcome) {
  std::fprintf(out, "  request  prompt  arrives  tokens  batch up to  alone             in the batch\n");
  for (std::size_t i = 0; i < outcome.requests.size(); ++i) {
    const Request& request = outcome.requests[i];
    const Completion& batched = outcome.batched[i];
    const Completion& alone = *outcome.alone[request.prompt];
    std::fprintf(out, "  %7zu  %6zu  %7zu  %6zu  %11zu  %s  %s  %s\n", i, request.prompt, request.arrival,
                 batched.tokens.size(), batched.largest_batch, invar::verify::to_hex(alone.logits_digest).c_str(),
                 invar::verify::to_hex(batched.logits_digest).c_str(),
                 alone.logits_digest == batched.logits_digest ? "equal" : "DIFFERENT");
  }
}

void print_speed(std::FILE* out, const char* what, const RunStatistics& run) {
  std::fprintf(
      out, "%s: %zu prompt and %zu answer tokens in %zu steps, %.1f s, %.1f answer tokens/s, %.1f tokens/s in all\n",
      what, run.prompt_tokens, run.answer_tokens, run.steps, run.seconds,
      static_cast<double>(run.answer_tokens) / run.seconds,
      static_cast<double>(run.prompt_tokens + run.answer_tokens) / run.seconds);
}

}  // namespace

PromptAnswers collect_answers(const Outcome& outcome, std::size_t prompt) {
  PromptAnswers answers;
  const auto add = [&](const std::vector<Token>& tokens) {
    if (std::find(answers.distinct.begin(), answers.distinct.end(), tokens) != answers.distinct.end()) return;
    for (const auto& other : answers.distinct) lower(answers.first_difference, first_difference(other, tokens));
    answers.distinct.push_back(tokens);
  };
  if (outcome.alone[prompt]) add(outcome.alone[prompt]->tokens);
  for (std::size_t i = 0; i < outcome.requests.size(); ++i)
    if (outcome.requests[i].prompt == prompt) add(outcome.batched[i].tokens);
  return answers;
}

std::size_t equal_digests(const Outcome& outcome) {
  std::size_t equal = 0;
  for (std::size_t i = 0; i < outcome.requests.size(); ++i)
    if (outcome.batched[i].logits_digest == outcome.alone[outcome.requests[i].prompt]->logits_digest) ++equal;
  return equal;
}

void print_report(std::FILE* out, const Outcome& outcome, const Tokenizer& tokenizer, const std::string& kernels,
                  const RunStatistics& batched, const RunStatistics& alone) {
  Totals totals;
  for (std::size_t prompt = 0; prompt < outcome.prompts.size(); ++prompt) {
    const PromptAnswers answers = collect_answers(outcome, prompt);
    if (answers.distinct.empty()) continue;
    totals.add(answers);
    std::fprintf(out, "\nprompt %zu: %s\n", prompt, outcome.prompts[prompt].c_str());
    print_answers(out, answers, tokenizer);
  }
  std::fprintf(out, "\nDigests of all logits of each request (%s kernels):\n", kernels.c_str());
  print_table(out, outcome);
  std::fprintf(out, "\n");
  print_speed(out, "in the batch", batched);
  print_speed(out, "alone       ", alone);
  std::fprintf(out, "summary: %s kernels: %zu requests of %zu prompts; distinct completions per prompt: at most %zu",
               kernels.c_str(), outcome.requests.size(), totals.prompts, totals.most_distinct);
  std::fprintf(out, " (%zu in all); ", totals.distinct);
  if (totals.first_difference) std::fprintf(out, "first difference at token %zu; ", *totals.first_difference + 1);
  std::fprintf(out, "digests equal alone and in the batch: %zu of %zu\n", equal_digests(outcome),
               outcome.requests.size());
}

}  // namespace serve
