// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// A user's question as the tokens a chat model was trained to answer.
#ifndef SERVE_CHAT_HPP
#define SERVE_CHAT_HPP

#include "gguf.hpp"
#include "tokenizer.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace serve {

class Chat {
 public:
  /// Where the vocabulary has <|im_start|> and <|im_end|> as control tokens, prompts follow ChatML with the system
  /// message that the file's chat template gives by default, if it gives one. Otherwise a prompt is the plain text
  /// behind the token that begins a sequence. `tokenizer` must outlive the object.
  Chat(const gguf::File& file, const Tokenizer& tokenizer);

  bool is_chat_ml() const { return chat_ml_; }
  const std::string& system_message() const { return system_; }

  std::vector<Token> prompt(std::string_view question) const;

 private:
  const Tokenizer& tokenizer_;
  bool chat_ml_;
  std::string system_;
};

/// The fixed default system message inside a ChatML template, or nothing where there is none.
std::string default_system_message(std::string_view chat_template);

}  // namespace serve

#endif
