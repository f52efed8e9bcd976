// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "unicode.hpp"

#include <algorithm>
#include <iterator>
#include <span>

namespace serve::unicode {
namespace {

struct CodeRange {
  char32_t first;
  char32_t last;
};

#include "unicode_tables.inc"

bool contains(std::span<const CodeRange> table, char32_t c) {
  const auto* after = std::upper_bound(table.data(), table.data() + table.size(), c,
                                       [](char32_t value, const CodeRange& range) { return value < range.first; });
  return after != table.data() && c <= (after - 1)->last;
}

constexpr char32_t replacement = 0xfffd;

/// Length of the sequence that a first byte announces, 0 for a byte that cannot be first.
std::size_t announced_length(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return 2;
  if (first >= 0xe0 && first <= 0xef) return 3;
  if (first >= 0xf0 && first <= 0xf4) return 4;
  return 0;
}

/// True where `second` may follow `first`: the rule that excludes overlong forms, surrogates and codes too large.
bool may_follow(unsigned char first, unsigned char second) {
  const unsigned lowest = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const unsigned highest = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  return second >= lowest && second <= highest;
}

/// How many bytes at `position` are a beginning of a well-formed character.
std::size_t matched_length(std::string_view text, std::size_t position) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[position + i]); };
  const std::size_t announced = announced_length(byte(0));
  const std::size_t limit = std::min(announced, text.size() - position);
  std::size_t matched = std::min<std::size_t>(limit, 1);
  while (matched < limit && (matched == 1 ? may_follow(byte(0), byte(1)) : (byte(matched) & 0xc0) == 0x80)) ++matched;
  return matched;
}

}  // namespace

bool is_letter(char32_t c) { return contains(letters, c); }

bool is_number(char32_t c) { return contains(numbers, c); }

bool is_space(char32_t c) {
  return (c >= 0x9 && c <= 0xd) || c == 0x20 || c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) ||
         c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

Character decode(std::string_view text, std::size_t position) {
  const std::size_t length = announced_length(static_cast<unsigned char>(text[position]));
  if (length == 0 || matched_length(text, position) < length) return {replacement, position, 1};
  if (length == 1) return {static_cast<unsigned char>(text[position]), position, 1};
  char32_t code = static_cast<unsigned char>(text[position]) & (0xffu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i)
    code = (code << 6) | (static_cast<unsigned char>(text[position + i]) & 0x3fu);
  return {code, position, length};
}

std::vector<Character> characters(std::string_view text) {
  std::vector<Character> result;
  for (std::size_t position = 0; position < text.size(); position += result.back().length)
    result.push_back(decode(text, position));
  return result;
}

void append(std::string& out, char32_t c) {
  const auto tail = [&](int shift) { out.push_back(static_cast<char>(0x80u | ((c >> shift) & 0x3fu))); };
  if (c < 0x80) {
    out.push_back(static_cast<char>(c));
  } else if (c < 0x800) {
    out.push_back(static_cast<char>(0xc0u | (c >> 6)));
    tail(0);
  } else if (c < 0x10000) {
    out.push_back(static_cast<char>(0xe0u | (c >> 12)));
    tail(6);
    tail(0);
  } else {
    out.push_back(static_cast<char>(0xf0u | (c >> 18)));
    tail(12);
    tail(6);
    tail(0);
  }
}

std::string Utf8Stream::push(std::string_view bytes) {
  waiting_ += bytes;
  std::string out;
  std::size_t position = 0;
  while (position < waiting_.size()) {
    const std::size_t matched = matched_length(waiting_, position);
    const std::size_t announced = announced_length(static_cast<unsigned char>(waiting_[position]));
    if (matched == announced && matched > 0) {
      out.append(waiting_, position, matched);
    } else if (matched > 0 && position + matched == waiting_.size()) {
      break;  // the rest may still come
    } else {
      append(out, replacement);
    }
    position += std::max<std::size_t>(matched, 1);
  }
  waiting_.erase(0, position);
  return out;
}

std::string Utf8Stream::finish() {
  std::string out;
  if (!waiting_.empty()) append(out, replacement);
  waiting_.clear();
  return out;
}

}  // namespace serve::unicode
