// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The tokens of a model: their text, kind and score.
#ifndef SERVE_VOCABULARY_HPP
#define SERVE_VOCABULARY_HPP

#include "gguf.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace serve {

using Token = std::int32_t;

/// What a token is for, by its number in the file.
enum class TokenKind : std::uint8_t { undefined, normal, unknown, control, user_defined, unused, byte };

class Vocabulary {
 public:
  /// Reads `tokenizer.ggml.tokens`, and `token_type` and `scores` where they are there. Throws gguf::Error when the
  /// arrays do not fit each other.
  explicit Vocabulary(const gguf::File& file);
  Vocabulary(const Vocabulary&) = delete;
  Vocabulary& operator=(const Vocabulary&) = delete;

  Token size() const { return static_cast<Token>(texts_.size()); }
  /// The token's text as the file spells it.
  const std::string& text(Token token) const { return texts_.at(static_cast<std::size_t>(token)); }
  TokenKind kind(Token token) const { return kinds_.at(static_cast<std::size_t>(token)); }
  bool has_scores() const { return !scores_.empty(); }
  float score(Token token) const { return scores_.at(static_cast<std::size_t>(token)); }

  /// The token with this spelling; the lowest number where several share it.
  std::optional<Token> find(std::string_view text) const;

 private:
  std::vector<std::string> texts_;
  std::vector<TokenKind> kinds_;
  std::vector<float> scores_;
  std::unordered_map<std::string_view, Token> index_;
};

}  // namespace serve

#endif
