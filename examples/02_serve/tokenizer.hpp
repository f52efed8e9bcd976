// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Text to tokens and back, as a GGUF file's metadata describes it.
#ifndef SERVE_TOKENIZER_HPP
#define SERVE_TOKENIZER_HPP

#include "encoding.hpp"
#include "vocabulary.hpp"

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace serve {

/// A stretch of a prompt. Only in markup does text such as "<|im_end|>" become the control token of that name; what a
/// user wrote is never markup.
struct PromptPart {
  std::string_view text;
  bool markup;
};

class Tokenizer {
 public:
  /// Supports the models "gpt2" (byte-level BPE; pre-tokenizers see pretokenize.hpp) and "llama" (BPE by scores).
  /// Throws gguf::Error where the file lacks something, contradicts itself or needs something else.
  explicit Tokenizer(const gguf::File& file);

  const Vocabulary& vocabulary() const { return *vocabulary_; }

  /// The tokens of a text without any control token.
  std::vector<Token> encode(std::string_view text) const;

  /// The tokens of parts that follow one another. Neighbouring text is tokenized as one, wherever parts begin.
  std::vector<Token> encode(std::span<const PromptPart> parts) const;

  /// The bytes a token stands for; empty for control tokens. A character may be spread over several tokens: see
  /// unicode::Utf8Stream.
  std::string bytes(Token token) const;

  /// The text of tokens, well-formed UTF-8, without control tokens.
  std::string decode(std::span<const Token> tokens) const;

  /// The token that begins a sequence, where the file names one.
  std::optional<Token> bos() const { return bos_; }
  /// Whether the model expects bos() in front of a plain prompt.
  bool adds_bos() const { return adds_bos_; }
  /// True for the tokens that end an answer.
  bool ends_answer(Token token) const;

 private:
  struct Run {
    std::string text;
    std::optional<Token> special;
  };

  std::optional<Token> special_at(std::string_view text, std::size_t position, bool markup) const;
  std::vector<Run> runs(std::span<const PromptPart> parts) const;
  void read_special_tokens(const gguf::File& file);

  std::unique_ptr<const Vocabulary> vocabulary_;
  std::unique_ptr<const Encoding> encoding_;
  std::array<std::vector<Token>, 256> specials_by_first_byte_;  // the longest first
  std::optional<Token> bos_;
  bool adds_bos_ = false;
  std::vector<Token> ends_;
};

}  // namespace serve

#endif
