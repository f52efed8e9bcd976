// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pretokenize.hpp"

#include <doctest/doctest.h>

#include <vector>

using serve::PreTokenizer;

namespace {

struct Case {
  PreTokenizer rule;
  std::string_view text;
  std::vector<std::string_view> pieces;
};

const Case cases[] = {
#include "pretokenize_cases.inc"
};

}  // namespace

TEST_CASE("pieces are those of the regular expressions") {
  for (const Case& c : cases) {
    INFO("rule ", static_cast<int>(c.rule), ", text '", c.text, "'");
    CHECK(serve::pre_tokenize(c.rule, c.text) == c.pieces);
  }
}

TEST_CASE("names of rules") {
  CHECK(serve::find_pre_tokenizer("smollm") == PreTokenizer::smollm);
  CHECK(serve::find_pre_tokenizer("default") == PreTokenizer::gpt2);
  CHECK_FALSE(serve::find_pre_tokenizer("tekken"));
  CHECK(serve::pre_tokenizer_names() == "smollm, gpt-2, default, llama-bpe, qwen2");
}

TEST_CASE("bytes that are no UTF-8 stay in the text") {
  const std::string text = "a\xff\xfe b\xc3";
  for (const PreTokenizer rule :
       {PreTokenizer::gpt2, PreTokenizer::smollm, PreTokenizer::llama_bpe, PreTokenizer::qwen2}) {
    std::string joined;
    for (const std::string_view piece : serve::pre_tokenize(rule, text)) joined += piece;
    CHECK(joined == text);
  }
}
