// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tokenizer.hpp"

#include "unicode.hpp"

#include <algorithm>

namespace serve {
namespace {

/// Spellings by which models of the llama architecture end an answer, beside the token that the file names.
constexpr std::string_view end_spellings[] = {"<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|end_of_text|>", "</s>"};

std::optional<Token> read_token(const gguf::File& file, std::string_view key, const Vocabulary& vocabulary) {
  if (!file.has(key)) return std::nullopt;
  const auto token = file.get<std::uint32_t>(key);
  if (token >= static_cast<std::uint32_t>(vocabulary.size()))
    file.fail("metadata key '" + std::string(key) + "' names token " + std::to_string(token) + " of only " +
              std::to_string(vocabulary.size()));
  return static_cast<Token>(token);
}

std::unique_ptr<const Encoding> make_encoding(const gguf::File& file, const Vocabulary& vocabulary) {
  const auto model = file.get<std::string_view>("tokenizer.ggml.model");
  if (model == "gpt2") return make_byte_bpe(file, vocabulary);
  if (model == "llama") return make_score_bpe(file, vocabulary);
  file.fail("the tokenizer model '" + gguf::printable(model) + "' is not supported; supported are gpt2 and llama");
}

bool is_special(TokenKind kind) {
  return kind == TokenKind::control || kind == TokenKind::user_defined || kind == TokenKind::unknown;
}

}  // namespace

Tokenizer::Tokenizer(const gguf::File& file)
    : vocabulary_(std::make_unique<const Vocabulary>(file)), encoding_(make_encoding(file, *vocabulary_)) {
  read_special_tokens(file);
}

void Tokenizer::read_special_tokens(const gguf::File& file) {
  for (Token token = 0; token < vocabulary_->size(); ++token) {
    const std::string& text = vocabulary_->text(token);
    if (is_special(vocabulary_->kind(token)) && !text.empty())
      specials_by_first_byte_[static_cast<unsigned char>(text[0])].push_back(token);
  }
  for (std::vector<Token>& specials : specials_by_first_byte_)
    std::sort(specials.begin(), specials.end(), [&](Token a, Token b) {
      const std::size_t first = vocabulary_->text(a).size(), second = vocabulary_->text(b).size();
      return first != second ? first > second : a < b;
    });

  bos_ = read_token(file, "tokenizer.ggml.bos_token_id", *vocabulary_);
  const bool by_default = file.get<std::string_view>("tokenizer.ggml.model") == "llama" ||
                          file.get_or<std::string_view>("tokenizer.ggml.pre", "") == "llama-bpe";
  adds_bos_ = file.get_or<bool>("tokenizer.ggml.add_bos_token", by_default) && bos_.has_value();

  for (const std::string_view key : {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id"})
    if (const auto token = read_token(file, key, *vocabulary_)) ends_.push_back(*token);
  for (const std::string_view spelling : end_spellings)
    if (const auto token = vocabulary_->find(spelling); token && is_special(vocabulary_->kind(*token)))
      ends_.push_back(*token);
}

bool Tokenizer::ends_answer(Token token) const { return std::find(ends_.begin(), ends_.end(), token) != ends_.end(); }

std::optional<Token> Tokenizer::special_at(std::string_view text, std::size_t position, bool markup) const {
  for (const Token token : specials_by_first_byte_[static_cast<unsigned char>(text[position])]) {
    const bool allowed = markup || vocabulary_->kind(token) == TokenKind::user_defined;
    if (allowed && text.substr(position).starts_with(vocabulary_->text(token))) return token;
  }
  return std::nullopt;
}

std::vector<Tokenizer::Run> Tokenizer::runs(std::span<const PromptPart> parts) const {
  std::vector<Run> result;
  const auto append_text = [&](std::string_view text) {
    if (text.empty()) return;
    if (result.empty() || result.back().special) result.push_back({});
    result.back().text += text;
  };
  for (const PromptPart& part : parts) {
    std::size_t begin = 0;
    for (std::size_t position = 0; position < part.text.size();) {
      const auto special = special_at(part.text, position, part.markup);
      if (!special) {
        ++position;
        continue;
      }
      append_text(part.text.substr(begin, position - begin));
      result.push_back({{}, special});
      position += vocabulary_->text(*special).size();
      begin = position;
    }
    append_text(part.text.substr(begin));
  }
  return result;
}

std::vector<Token> Tokenizer::encode(std::string_view text) const {
  const PromptPart part{text, false};
  return encode(std::span(&part, 1));
}

std::vector<Token> Tokenizer::encode(std::span<const PromptPart> parts) const {
  std::vector<Token> tokens;
  bool starts = true;
  for (const Run& run : runs(parts)) {
    if (run.special)
      tokens.push_back(*run.special);
    else
      encoding_->encode(run.text, starts, tokens);
    starts = run.special.has_value();
  }
  return tokens;
}

std::string Tokenizer::bytes(Token token) const {
  switch (vocabulary_->kind(token)) {
    case TokenKind::control: return {};
    case TokenKind::unknown: return {};
    case TokenKind::user_defined: return vocabulary_->text(token);
    default: return encoding_->bytes(token);
  }
}

std::string Tokenizer::decode(std::span<const Token> tokens) const {
  unicode::Utf8Stream stream;
  std::string text;
  for (const Token token : tokens) text += stream.push(bytes(token));
  return text + stream.finish();
}

}  // namespace serve
