// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report.hpp"
#include "tiny_models.hpp"

#include <doctest/doctest.h>

#include <memory>

using serve::Completion;
using serve::Request;
using serve::Token;

namespace {

using Tokens = std::vector<Token>;

/// Three prompts, of which the last is not asked; prompt 0 gets three different answers, prompt 1 always the same.
struct Run {
  std::vector<std::string> prompts{"first", "second", "third"};
  std::vector<Request> requests{{0, {2}, 0}, {1, {3}, 1}, {0, {2}, 2}, {0, {2}, 5}, {1, {3}, 6}};
  std::vector<Completion> batched{
      {{2, 3, 4}, 10, 1}, {{3, 3}, 20, 2}, {{2, 3}, 11, 2}, {{2, 4, 4}, 12, 3}, {{3, 3}, 20, 1}};
  std::vector<std::optional<Completion>> alone{Completion{{2, 3, 4}, 10, 1}, Completion{{3, 3}, 20, 1}, std::nullopt};
  serve::Outcome outcome{prompts, requests, batched, alone};
};

std::string report(const Run& run, const std::string& kernels) {
  const serve_tests::Bytes bytes = serve_tests::tiny_llama().bytes();
  const serve::Tokenizer tokenizer(serve::gguf::File::parse(bytes, "test"));
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
  REQUIRE(file);
  const serve::RunStatistics statistics{3, 4, 5, 0.5};
  serve::print_report(file.get(), run.outcome, tokenizer, kernels, statistics, statistics);
  std::rewind(file.get());
  std::string text;
  for (int c; (c = std::fgetc(file.get())) != EOF;) text += static_cast<char>(c);
  return text;
}

std::string last_line(std::string text) {
  REQUIRE(text.ends_with('\n'));
  text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

}  // namespace

TEST_CASE("different answers are counted, and the first token that differs is found") {
  const Run run;
  const serve::PromptAnswers first = serve::collect_answers(run.outcome, 0);
  CHECK(first.distinct == std::vector<Tokens>{{2, 3, 4}, {2, 3}, {2, 4, 4}});
  CHECK(first.first_difference == std::size_t{1});
  const serve::PromptAnswers second = serve::collect_answers(run.outcome, 1);
  CHECK(second.distinct == std::vector<Tokens>{{3, 3}});
  CHECK_FALSE(second.first_difference);
  CHECK(serve::collect_answers(run.outcome, 2).distinct.empty());
  CHECK(serve::equal_digests(run.outcome) == 3);
}

TEST_CASE("an answer that is the beginning of another differs behind its end") {
  Run run;
  run.batched[3].tokens = {2, 3, 4};
  CHECK(serve::collect_answers(run.outcome, 0).first_difference == std::size_t{2});
}

TEST_CASE("the report ends with its summary") {
  const Run run;
  const std::string text = report(run, "variant");
  CHECK(last_line(text) ==
        "summary: variant kernels: 5 requests of 2 prompts; distinct completions per prompt: at most 3 (4 in all); "
        "first difference at token 2; digests equal alone and in the batch: 3 of 5");
  CHECK(text.find("prompt 1: second\n    bb\n") != std::string::npos);
  CHECK(text.find("prompt 2") == std::string::npos);
  CHECK(text.find("DIFFERENT") != std::string::npos);

  Run equal;
  equal.batched[2] = equal.batched[3] = equal.batched[0];
  const std::string equal_text = report(equal, "invariant");
  CHECK(last_line(equal_text) ==
        "summary: invariant kernels: 5 requests of 2 prompts; distinct completions per prompt: at most 1 (2 in all); "
        "digests equal alone and in the batch: 5 of 5");
  CHECK(equal_text.find("DIFFERENT") == std::string::npos);
}
