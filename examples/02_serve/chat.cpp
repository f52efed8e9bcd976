// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "chat.hpp"

namespace serve {
namespace {

bool has_control(const Tokenizer& tokenizer, std::string_view text) {
  const auto token = tokenizer.vocabulary().find(text);
  return token && tokenizer.vocabulary().kind(*token) == TokenKind::control;
}

}  // namespace

std::string default_system_message(std::string_view chat_template) {
  constexpr std::string_view opening = "<|im_start|>system";
  constexpr std::string_view closing = "<|im_end|>";
  for (std::size_t found = 0; (found = chat_template.find(opening, found)) != std::string_view::npos;) {
    found += opening.size();
    std::string_view rest = chat_template.substr(found);
    // Templates write the line break either as it is or as an escape in a quoted string.
    if (rest.starts_with("\n"))
      rest.remove_prefix(1);
    else if (rest.starts_with("\\n"))
      rest.remove_prefix(2);
    else
      continue;
    const std::string_view message = rest.substr(0, rest.find(closing));
    const bool literal = message.size() < rest.size() && message.find_first_of("'\"{}\\") == std::string_view::npos;
    if (literal && !message.empty()) return std::string(message);
  }
  return {};
}

Chat::Chat(const gguf::File& file, const Tokenizer& tokenizer)
    : tokenizer_(tokenizer),
      chat_ml_(has_control(tokenizer, "<|im_start|>") && has_control(tokenizer, "<|im_end|>")),
      system_(default_system_message(file.get_or<std::string_view>("tokenizer.chat_template", ""))) {}

std::vector<Token> Chat::prompt(std::string_view question) const {
  std::vector<Token> tokens;
  if (tokenizer_.adds_bos()) tokens.push_back(*tokenizer_.bos());
  std::vector<PromptPart> parts;
  if (chat_ml_ && !system_.empty()) {
    parts.push_back({"<|im_start|>system\n", true});
    parts.push_back({system_, false});
    parts.push_back({"<|im_end|>\n", true});
  }
  if (chat_ml_) parts.push_back({"<|im_start|>user\n", true});
  parts.push_back({question, false});
  if (chat_ml_) parts.push_back({"<|im_end|>\n<|im_start|>assistant\n", true});
  const std::vector<Token> body = tokenizer_.encode(parts);
  tokens.insert(tokens.end(), body.begin(), body.end());
  return tokens;
}

}  // namespace serve
