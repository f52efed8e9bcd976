// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "encoding.hpp"
#include "merge.hpp"
#include "unicode.hpp"

#include <array>
#include <unordered_map>
#include <utility>

namespace serve {
namespace {

constexpr std::string_view space_mark = "\xe2\x96\x81";  // U+2581

/// The value of a token spelled <0xHH>, or -1.
int byte_value(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  if (text.size() != 6 || !text.starts_with("<0x") || text[5] != '>') return -1;
  const std::size_t high = digits.find(text[3]);
  const std::size_t low = digits.find(text[4]);
  if (high == std::string_view::npos || low == std::string_view::npos) return -1;
  return static_cast<int>(high * 16 + low);
}

class ScoreBpe final : public Encoding {
 public:
  ScoreBpe(const gguf::File& file, const Vocabulary& vocabulary)
      : vocabulary_(vocabulary), add_space_(file.get_or<bool>("tokenizer.ggml.add_space_prefix", true)) {
    if (!vocabulary.has_scores()) file.fail("metadata key 'tokenizer.ggml.scores' is missing");
    byte_token_.fill(Symbol::no_token);
    for (Token token = 0; token < vocabulary.size(); ++token) index(file, token);
    for (int byte = 0; byte < 256; ++byte)
      if (byte_token_[static_cast<std::size_t>(byte)] == Symbol::no_token)
        file.fail("the vocabulary has no token for the byte " + std::to_string(byte));
  }

  void encode(std::string_view text, bool starts, std::vector<Token>& tokens) const override {
    if (text.empty()) return;
    const std::string marked = mark_spaces(text, starts && add_space_);
    std::vector<Symbol> symbols;
    for (const unicode::Character& c : unicode::characters(marked))
      symbols.push_back({c.begin, c.length, find(std::string_view(marked).substr(c.begin, c.length))});
    const auto find_merge = [&](const Symbol& left, const Symbol& right) -> std::optional<Merge> {
      const Token token = find(std::string_view(marked).substr(left.begin, left.length + right.length));
      if (token == Symbol::no_token) return std::nullopt;
      return Merge{-static_cast<double>(vocabulary_.score(token)), token};
    };
    for (const Symbol& symbol : merge_symbols(std::move(symbols), find_merge)) {
      if (symbol.token != Symbol::no_token)
        tokens.push_back(symbol.token);
      else
        for (std::size_t i = 0; i < symbol.length; ++i)
          tokens.push_back(byte_token_[static_cast<unsigned char>(marked[symbol.begin + i])]);
    }
  }

  std::string bytes(Token token) const override {
    const std::string& text = vocabulary_.text(token);
    if (vocabulary_.kind(token) == TokenKind::byte) return std::string(1, static_cast<char>(byte_value(text)));
    std::string result;
    for (std::size_t i = 0; i < text.size();) {
      const bool space = std::string_view(text).substr(i).starts_with(space_mark);
      result.push_back(space ? ' ' : text[i]);
      i += space ? space_mark.size() : 1;
    }
    return result;
  }

 private:
  void index(const gguf::File& file, Token token) {
    const std::string& text = vocabulary_.text(token);
    const TokenKind kind = vocabulary_.kind(token);
    if (kind == TokenKind::byte) {
      const int value = byte_value(text);
      if (value < 0) file.fail("the byte token '" + gguf::printable(text) + "' is not spelled <0xHH>");
      byte_token_[static_cast<std::size_t>(value)] = token;
    } else if (kind == TokenKind::normal || kind == TokenKind::user_defined) {
      // Control tokens stay out, so that no text can spell one.
      pieces_.emplace(text, token);
    }
  }

  static std::string mark_spaces(std::string_view text, bool space_in_front) {
    std::string marked(space_in_front ? space_mark : "");
    for (const char c : text) {
      if (c == ' ')
        marked += space_mark;
      else
        marked.push_back(c);
    }
    return marked;
  }

  Token find(std::string_view text) const {
    const auto found = pieces_.find(text);
    return found == pieces_.end() ? Symbol::no_token : found->second;
  }

  const Vocabulary& vocabulary_;
  bool add_space_;
  std::array<Token, 256> byte_token_;
  std::unordered_map<std::string_view, Token> pieces_;
};

}  // namespace

std::unique_ptr<Encoding> make_score_bpe(const gguf::File& file, const Vocabulary& vocabulary) {
  return std::make_unique<ScoreBpe>(file, vocabulary);
}

}  // namespace serve
