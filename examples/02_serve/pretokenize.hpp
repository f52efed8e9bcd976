// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The rules by which byte-level tokenizers cut a text into pieces before merging. Models state them as regular
/// expressions; here each is a small matcher, so no expression engine with Unicode classes is needed.
#ifndef SERVE_PRETOKENIZE_HPP
#define SERVE_PRETOKENIZE_HPP

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace serve {

enum class PreTokenizer {
  gpt2,       ///< contractions, words, numbers and signs with their leading space, white space
  smollm,     ///< each digit on its own, then gpt2 on what lies between
  llama_bpe,  ///< any-case contractions, up to three digits, line breaks kept together
  qwen2       ///< as llama_bpe with each digit on its own
};

/// The rule behind a name in `tokenizer.ggml.pre`: "gpt-2" or "default", "smollm", "llama-bpe", "qwen2".
std::optional<PreTokenizer> find_pre_tokenizer(std::string_view name);

/// The names that find_pre_tokenizer knows, for messages.
std::string pre_tokenizer_names();

/// The pieces of a text in order; together they are the whole text.
std::vector<std::string_view> pre_tokenize(PreTokenizer rule, std::string_view text);

}  // namespace serve

#endif
