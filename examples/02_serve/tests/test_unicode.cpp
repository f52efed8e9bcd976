// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "unicode.hpp"

#include <doctest/doctest.h>

namespace unicode = serve::unicode;

TEST_CASE("classes of characters") {
  for (const char32_t c : {U'a', U'Z', U'é', U'ß', U'Я', U'中', U'ا', U'ﬁ', char32_t{0x10400}, char32_t{0x323af}})
    CHECK(unicode::is_letter(c));
  for (const char32_t c : {U'0', U'9', U'½', U'²', U'Ⅷ', U'٣', char32_t{0x1d7ff}}) CHECK(unicode::is_number(c));
  for (const char32_t c : {U' ', U'\t', U'\n', char32_t{0x85}, char32_t{0xa0}, char32_t{0x3000}, char32_t{0x2028}})
    CHECK(unicode::is_space(c));
  for (const char32_t c :
       {U'!', U'_', U'€', U'🎉', char32_t{0x301}, char32_t{0x200b}, char32_t{0}, char32_t{0x10ffff}}) {
    CHECK_FALSE(unicode::is_letter(c));
    CHECK_FALSE(unicode::is_number(c));
    CHECK_FALSE(unicode::is_space(c));
  }
}

TEST_CASE("every code point survives UTF-8") {
  int wrong = 0;
  for (char32_t c = 0; c <= 0x10ffff; ++c) {
    if (c >= 0xd800 && c <= 0xdfff) continue;
    std::string text;
    unicode::append(text, c);
    const unicode::Character back = unicode::decode(text, 0);
    if (back.code != c || back.length != text.size()) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("what is no UTF-8 becomes single bytes") {
  for (const std::string text : {"\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80",
                                 "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xc3", "\xe2\x82", "\xf0\x9f\x8e"}) {
    const auto characters = unicode::characters(text);
    CHECK(characters.size() == text.size());
    for (const unicode::Character& c : characters) {
      CHECK(c.code == 0xfffd);
      CHECK(c.length == 1);
    }
  }
}

TEST_CASE("a stream may be cut anywhere") {
  const std::string text = "a\u00e9\u4e2d\U0001f389z";
  for (std::size_t first = 0; first <= text.size(); ++first)
    for (std::size_t second = first; second <= text.size(); ++second) {
      unicode::Utf8Stream stream;
      std::string out = stream.push(text.substr(0, first));
      out += stream.push(text.substr(first, second - first));
      out += stream.push(text.substr(second));
      CHECK(out == text);
      CHECK(stream.finish().empty());
    }
  unicode::Utf8Stream broken;
  CHECK(broken.push("x\xe4\xb8") == "x");
  CHECK(broken.push("y\xff\xf0\x9f") == "\ufffdy\ufffd");
  CHECK(broken.finish() == "\ufffd");
  CHECK(broken.push("ok") == "ok");
}
