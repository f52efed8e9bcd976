// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "encoding.hpp"
#include "merge.hpp"
#include "pretokenize.hpp"
#include "unicode.hpp"

#include <array>
#include <unordered_map>
#include <utility>

namespace serve {
namespace {

/// Byte-level vocabularies spell each byte as one printable character: itself where it is printable and no space in
/// Latin-1, otherwise the next free code from U+0100 on.
class ByteAlphabet {
 public:
  ByteAlphabet() {
    char32_t next = 0x100;
    for (unsigned byte = 0; byte < 256; ++byte) {
      const bool printable = (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte != 0xad);
      const char32_t code = printable ? byte : next++;
      unicode::append(spelling_[byte], code);
      byte_.emplace(code, static_cast<char>(byte));
    }
  }

  const std::string& spelling(unsigned byte) const { return spelling_[byte]; }

  /// The bytes that a token's text spells; characters outside the alphabet stand for themselves.
  std::string bytes(std::string_view text) const {
    std::string result;
    for (const unicode::Character& c : unicode::characters(text)) {
      const auto found = byte_.find(c.code);
      if (found != byte_.end())
        result.push_back(found->second);
      else
        result.append(text.substr(c.begin, c.length));
    }
    return result;
  }

 private:
  std::array<std::string, 256> spelling_;
  std::unordered_map<char32_t, char> byte_;
};

class ByteBpe final : public Encoding {
 public:
  ByteBpe(const gguf::File& file, const Vocabulary& vocabulary) : vocabulary_(vocabulary) {
    const auto name = file.get_or<std::string_view>("tokenizer.ggml.pre", "default");
    const auto rule = find_pre_tokenizer(name);
    if (!rule)
      file.fail("the pre-tokenizer '" + gguf::printable(name) + "' is not supported; supported are " +
                pre_tokenizer_names());
    rule_ = *rule;
    for (unsigned byte = 0; byte < 256; ++byte)
      byte_token_[byte] = vocabulary.find(alphabet_.spelling(byte)).value_or(Symbol::no_token);
    // Models of this family look a whole piece up before they merge.
    if (rule_ == PreTokenizer::llama_bpe) index_whole_pieces();
    read_merges(file);
  }

  void encode(std::string_view text, bool, std::vector<Token>& tokens) const override {
    for (const std::string_view piece : pre_tokenize(rule_, text)) encode_piece(piece, tokens);
  }

  std::string bytes(Token token) const override { return alphabet_.bytes(vocabulary_.text(token)); }

 private:
  void index_whole_pieces() {
    for (Token token = 0; token < vocabulary_.size(); ++token)
      if (vocabulary_.kind(token) == TokenKind::normal) whole_.emplace(bytes(token), token);
  }

  void read_merges(const gguf::File& file) {
    const auto merges = file.get_array<std::string_view>("tokenizer.ggml.merges");
    for (std::size_t i = 0; i < merges.size(); ++i) {
      const auto fail = [&](const char* what) {
        file.fail("merge " + std::to_string(i) + ", '" + gguf::printable(merges[i]) + "', " + what);
      };
      const std::size_t gap = merges[i].find(' ', 1);
      if (gap == std::string_view::npos) fail("is not two tokens with a space between");
      const std::string_view left = merges[i].substr(0, gap);
      const std::string_view right = merges[i].substr(gap + 1);
      const auto left_token = vocabulary_.find(left);
      const auto right_token = vocabulary_.find(right);
      const auto joint_token = vocabulary_.find(std::string(left) + std::string(right));
      if (!left_token || !right_token || !joint_token) fail("names a token that the vocabulary does not have");
      merges_.emplace(pair_key(*left_token, *right_token), Merge{static_cast<double>(i), *joint_token});
    }
  }

  static std::uint64_t pair_key(Token left, Token right) {
    return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32) | static_cast<std::uint32_t>(right);
  }

  void encode_piece(std::string_view piece, std::vector<Token>& tokens) const {
    if (const auto found = whole_.find(std::string(piece)); found != whole_.end()) {
      tokens.push_back(found->second);
      return;
    }
    std::vector<Symbol> symbols;
    for (std::size_t i = 0; i < piece.size(); ++i) {
      const Token token = byte_token_[static_cast<unsigned char>(piece[i])];
      if (token != Symbol::no_token) symbols.push_back({i, 1, token});
    }
    const auto find = [this](const Symbol& left, const Symbol& right) -> std::optional<Merge> {
      const auto found = merges_.find(pair_key(left.token, right.token));
      return found == merges_.end() ? std::nullopt : std::optional<Merge>(found->second);
    };
    for (const Symbol& symbol : merge_symbols(std::move(symbols), find)) tokens.push_back(symbol.token);
  }

  const Vocabulary& vocabulary_;
  const ByteAlphabet alphabet_;
  PreTokenizer rule_;
  std::array<Token, 256> byte_token_;
  std::unordered_map<std::uint64_t, Merge> merges_;
  std::unordered_map<std::string, Token> whole_;
};

}  // namespace

std::unique_ptr<Encoding> make_byte_bpe(const gguf::File& file, const Vocabulary& vocabulary) {
  return std::make_unique<ByteBpe>(file, vocabulary);
}

}  // namespace serve
