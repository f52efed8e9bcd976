// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tiny_models.hpp"
#include "workload.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

namespace {

std::string refusal(const serve::Chat& chat, const std::vector<std::string>& questions, std::size_t max_tokens,
                    std::size_t context) {
  try {
    serve::make_prompts(chat, questions, max_tokens, context);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("a prompt must fit into the context together with its answer") {
  const serve_tests::Bytes bytes = serve_tests::tiny_llama().bytes();
  const serve::gguf::File file = serve::gguf::File::parse(bytes, "test");
  const serve::Tokenizer tokenizer(file);
  const serve::Chat chat(file, tokenizer);
  const std::size_t size = chat.prompt("ab abc").size();
  CHECK(refusal(chat, {"ab", "ab abc"}, 4, size + 4) == "accepted");
  CHECK(refusal(chat, {"ab", "ab abc"}, 4, size + 3) == "the model's context of " + std::to_string(size + 3) +
                                                            " positions is too short for " + std::to_string(size) +
                                                            " tokens of the prompt and 4 of an answer: 'ab abc'");
}

TEST_CASE("a prompt must have a token") {
  // Without control tokens a prompt is plain text, and bytes that the vocabulary lacks are left out.
  serve_tests::GgufWriter writer;
  writer.entry<std::string>("tokenizer.ggml.model", "gpt2")
      .entry<std::string>("tokenizer.ggml.pre", "gpt-2")
      .array<std::string>("tokenizer.ggml.tokens", {"a", "b"})
      .array<std::int32_t>("tokenizer.ggml.token_type", {1, 1})
      .array<std::string>("tokenizer.ggml.merges", {});
  const serve_tests::Bytes bytes = writer.bytes();
  const serve::gguf::File file = serve::gguf::File::parse(bytes, "test");
  const serve::Tokenizer tokenizer(file);
  const serve::Chat chat(file, tokenizer);
  CHECK(refusal(chat, {"ab", "ba"}, 4, 64) == "accepted");
  CHECK(refusal(chat, {"ab", "xyz"}, 4, 64) == "the model's vocabulary has no token for the prompt 'xyz'");
}

TEST_CASE("requests arrive in order, at times that a seed fixes") {
  const std::vector<std::vector<serve::Token>> prompts{{1, 2}, {3}};
  serve::Random a(1), b(1), c(2);
  const auto requests = serve::make_requests(prompts, 20, a);
  const auto same = serve::make_requests(prompts, 20, b);
  const auto other = serve::make_requests(prompts, 20, c);
  REQUIRE(requests.size() == 20);
  bool all_equal = true;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    CHECK(requests[i].tokens == prompts[requests[i].prompt]);
    CHECK(requests[i].arrival >= (i == 0 ? 0 : requests[i - 1].arrival));
    CHECK(requests[i].arrival == same[i].arrival);
    CHECK(requests[i].prompt == same[i].prompt);
    all_equal = all_equal && requests[i].arrival == other[i].arrival;
  }
  CHECK_FALSE(all_equal);
  CHECK(requests.back().arrival > requests.front().arrival);
}
