// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// UTF-8 and the few character classes that tokenizers split by.
#ifndef SERVE_UNICODE_HPP
#define SERVE_UNICODE_HPP

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace serve::unicode {

/// General category L.
bool is_letter(char32_t c);
/// General category N: digits, letter-like numbers, fractions.
bool is_number(char32_t c);
/// Property White_Space.
bool is_space(char32_t c);

/// Where one character lies in a byte string. `code` is U+FFFD where the bytes are no UTF-8; such a character is
/// one byte long.
struct Character {
  char32_t code;
  std::size_t begin;
  std::size_t length;
};

/// The character that begins at `position`, which must be inside the text. Overlong forms, surrogates and what lies
/// beyond U+10FFFF are no UTF-8.
Character decode(std::string_view text, std::size_t position);

/// All characters of a text, in order.
std::vector<Character> characters(std::string_view text);

/// Appends the UTF-8 form of c to `out`.
void append(std::string& out, char32_t c);

/// Turns a byte stream that is cut anywhere into well-formed UTF-8, so that text can be shown while it is made: an
/// unfinished character waits for its remaining bytes, and a byte that can belong to none becomes U+FFFD.
class Utf8Stream {
 public:
  /// Takes more bytes and returns the text that they complete.
  std::string push(std::string_view bytes);
  /// Ends the stream: what was waiting becomes U+FFFD.
  std::string finish();

 private:
  std::string waiting_;
};

}  // namespace serve::unicode

#endif
