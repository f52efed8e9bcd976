// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pretokenize.hpp"

#include "unicode.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace serve {
namespace {

constexpr std::pair<std::string_view, PreTokenizer> names[] = {
    {"smollm", PreTokenizer::smollm},       {"gpt-2", PreTokenizer::gpt2},  {"default", PreTokenizer::gpt2},
    {"llama-bpe", PreTokenizer::llama_bpe}, {"qwen2", PreTokenizer::qwen2},
};

enum class Class { letter, number, space, other };

Class class_of(char32_t c) {
  if (unicode::is_letter(c)) return Class::letter;
  if (unicode::is_number(c)) return Class::number;
  return unicode::is_space(c) ? Class::space : Class::other;
}

bool is_line_break(char32_t c) { return c == U'\r' || c == U'\n'; }

/// The characters of a text with their classes, and the runs that all rules are made of. Positions count characters;
/// beyond the end there is code 0 of no class.
class Text {
 public:
  explicit Text(std::string_view bytes) : bytes_(bytes), characters_(unicode::characters(bytes)) {
    for (const unicode::Character& c : characters_) classes_.push_back(class_of(c.code));
  }

  std::size_t size() const { return characters_.size(); }
  char32_t code(std::size_t i) const { return i < size() ? characters_[i].code : U'\0'; }
  bool is(std::size_t i, Class c) const { return i < size() && classes_[i] == c; }

  /// First position from i on that is not of class c.
  std::size_t run_end(std::size_t i, Class c) const {
    while (is(i, c)) ++i;
    return i;
  }

  std::string_view bytes(std::size_t begin, std::size_t end) const {
    const std::size_t first = characters_[begin].begin;
    const unicode::Character& last = characters_[end - 1];
    return bytes_.substr(first, last.begin + last.length - first);
  }

 private:
  std::string_view bytes_;
  std::vector<unicode::Character> characters_;
  std::vector<Class> classes_;
};

/// Lower case for the letters of English contractions; the long s folds to s as in Unicode.
char32_t folded(char32_t c) {
  if (c >= U'A' && c <= U'Z') return c - U'A' + U'a';
  return c == 0x17f ? U's' : c;
}

/// End of 's 't 're 've 'm 'll or 'd at i, or i.
std::size_t contraction_end(const Text& text, std::size_t i, bool any_case) {
  if (text.code(i) != U'\'') return i;
  const char32_t a = any_case ? folded(text.code(i + 1)) : text.code(i + 1);
  const char32_t b = any_case ? folded(text.code(i + 2)) : text.code(i + 2);
  if (a == U's' || a == U't' || a == U'm' || a == U'd') return i + 2;
  if ((b == U'e' && (a == U'r' || a == U'v')) || (a == U'l' && b == U'l')) return i + 3;
  return i;
}

/// White space from i on, without its last character where a word follows: that one belongs to the word.
std::size_t space_end(const Text& text, std::size_t i) {
  const std::size_t end = text.run_end(i, Class::space);
  return end < text.size() && end - i > 1 ? end - 1 : end;
}

std::size_t gpt2_end(const Text& text, std::size_t i) {
  if (const std::size_t end = contraction_end(text, i, false); end > i) return end;
  const std::size_t word = text.code(i) == U' ' ? i + 1 : i;
  for (const Class c : {Class::letter, Class::number, Class::other})
    if (text.is(word, c)) return text.run_end(word, c);
  return space_end(text, i);
}

std::size_t llama_end(const Text& text, std::size_t i, std::size_t digits) {
  if (const std::size_t end = contraction_end(text, i, true); end > i) return end;
  if (text.is(i, Class::letter)) return text.run_end(i, Class::letter);
  if (text.is(i, Class::number)) return std::min(text.run_end(i, Class::number), i + digits);
  if (!is_line_break(text.code(i)) && text.is(i + 1, Class::letter)) return text.run_end(i + 1, Class::letter);
  const std::size_t sign = text.code(i) == U' ' ? i + 1 : i;
  if (text.is(sign, Class::other)) {
    std::size_t end = text.run_end(sign, Class::other);
    while (is_line_break(text.code(end))) ++end;
    return end;
  }
  for (std::size_t end = text.run_end(i, Class::space); end > i; --end)
    if (is_line_break(text.code(end - 1))) return end;
  return space_end(text, i);
}

template <class End>
void split(std::string_view bytes, End end_of, std::vector<std::string_view>& pieces) {
  const Text text(bytes);
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = end_of(text, i);
    pieces.push_back(text.bytes(i, end));
    i = end;
  }
}

/// Numbers are cut out first, and what lies between is split as if it stood alone.
void split_smollm(std::string_view bytes, std::vector<std::string_view>& pieces) {
  std::size_t begin = 0;
  for (const unicode::Character& c : unicode::characters(bytes)) {
    if (!unicode::is_number(c.code)) continue;
    split(bytes.substr(begin, c.begin - begin), gpt2_end, pieces);
    pieces.push_back(bytes.substr(c.begin, c.length));
    begin = c.begin + c.length;
  }
  split(bytes.substr(begin), gpt2_end, pieces);
}

}  // namespace

std::optional<PreTokenizer> find_pre_tokenizer(std::string_view name) {
  for (const auto& [known, rule] : names)
    if (known == name) return rule;
  return std::nullopt;
}

std::string pre_tokenizer_names() {
  std::string list;
  for (const auto& entry : names) list.append(list.empty() ? "" : ", ").append(entry.first);
  return list;
}

std::vector<std::string_view> pre_tokenize(PreTokenizer rule, std::string_view text) {
  std::vector<std::string_view> pieces;
  const auto llama = [](std::size_t digits) {
    return [digits](const Text& t, std::size_t i) { return llama_end(t, i, digits); };
  };
  switch (rule) {
    case PreTokenizer::gpt2: split(text, gpt2_end, pieces); break;
    case PreTokenizer::smollm: split_smollm(text, pieces); break;
    case PreTokenizer::llama_bpe: split(text, llama(3), pieces); break;
    case PreTokenizer::qwen2: split(text, llama(1), pieces); break;
  }
  return pieces;
}

}  // namespace serve
