// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What the two kinds of tokenizer have in common.
#ifndef SERVE_ENCODING_HPP
#define SERVE_ENCODING_HPP

#include "vocabulary.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace serve {

/// Ordinary text to tokens and back; control tokens are the tokenizer's business.
class Encoding {
 public:
  virtual ~Encoding() = default;

  /// Appends the tokens of one stretch of text. `starts` says that it is at the beginning or behind a control token.
  virtual void encode(std::string_view text, bool starts, std::vector<Token>& tokens) const = 0;

  /// The bytes that a token of ordinary text stands for; one token may hold part of a character.
  virtual std::string bytes(Token token) const = 0;
};

/// `tokenizer.ggml.model` = "gpt2": byte-level BPE with a list of merges. Bytes for which the vocabulary has no token
/// are left out, as other implementations do. `vocabulary` must outlive the result.
std::unique_ptr<Encoding> make_byte_bpe(const gguf::File& file, const Vocabulary& vocabulary);

/// `tokenizer.ggml.model` = "llama": BPE over characters that merges by score, with tokens for single bytes where a
/// character has none; spaces are written as U+2581. `vocabulary` must outlive the result.
std::unique_ptr<Encoding> make_score_bpe(const gguf::File& file, const Vocabulary& vocabulary);

}  // namespace serve

#endif
