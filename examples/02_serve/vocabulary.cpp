// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "vocabulary.hpp"

#include <limits>

namespace serve {

Vocabulary::Vocabulary(const gguf::File& file) {
  const auto tokens = file.get_array<std::string_view>("tokenizer.ggml.tokens");
  if (tokens.empty()) file.fail("the vocabulary is empty");
  if (tokens.size() > static_cast<std::size_t>(std::numeric_limits<Token>::max()))
    file.fail("the vocabulary has more tokens than 31 bits can count");
  texts_.assign(tokens.begin(), tokens.end());
  for (std::size_t i = 0; i < texts_.size(); ++i) index_.emplace(texts_[i], static_cast<Token>(i));

  kinds_.assign(texts_.size(), TokenKind::normal);
  if (file.has("tokenizer.ggml.token_type")) {
    const auto kinds = file.get_array<std::int32_t>("tokenizer.ggml.token_type");
    if (kinds.size() != texts_.size())
      file.fail("there are " + std::to_string(texts_.size()) + " tokens but " + std::to_string(kinds.size()) +
                " token types");
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      if (kinds[i] < 0 || kinds[i] > static_cast<std::int32_t>(TokenKind::byte))
        file.fail("token " + std::to_string(i) + " has the unknown token type " + std::to_string(kinds[i]));
      kinds_[i] = static_cast<TokenKind>(kinds[i]);
    }
  }

  if (file.has("tokenizer.ggml.scores")) {
    scores_ = file.get_array<float>("tokenizer.ggml.scores");
    if (scores_.size() != texts_.size())
      file.fail("there are " + std::to_string(texts_.size()) + " tokens but " + std::to_string(scores_.size()) +
                " scores");
    for (std::size_t i = 0; i < scores_.size(); ++i)
      if (scores_[i] != scores_[i]) file.fail("the score of token " + std::to_string(i) + " is NaN");
  }
}

std::optional<Token> Vocabulary::find(std::string_view text) const {
  const auto found = index_.find(text);
  return found == index_.end() ? std::nullopt : std::optional<Token>(found->second);
}

}  // namespace serve
