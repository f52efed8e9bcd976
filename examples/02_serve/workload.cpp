// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "workload.hpp"

#include <stdexcept>

namespace serve {
namespace {

/// The most steps between two arrivals, plus one.
constexpr std::uint64_t arrival_gap = 12;

std::string quoted(const std::string& question) { return "'" + gguf::printable(question) + "'"; }

}  // namespace

std::vector<std::vector<Token>> make_prompts(const Chat& chat, const std::vector<std::string>& questions,
                                             std::size_t max_tokens, std::size_t context) {
  std::vector<std::vector<Token>> prompts;
  for (const std::string& question : questions) {
    prompts.push_back(chat.prompt(question));
    const std::size_t size = prompts.back().size();
    if (size == 0) throw std::runtime_error("the model's vocabulary has no token for the prompt " + quoted(question));
    if (size + max_tokens > context)
      throw std::runtime_error("the model's context of " + std::to_string(context) + " positions is too short for " +
                               std::to_string(size) + " tokens of the prompt and " + std::to_string(max_tokens) +
                               " of an answer: " + quoted(question));
  }
  return prompts;
}

std::vector<Request> make_requests(const std::vector<std::vector<Token>>& prompts, std::size_t count, Random& random) {
  std::vector<Request> requests;
  std::size_t step = 0;
  for (const std::size_t prompt : draw_prompts(prompts.size(), count, random)) {
    requests.push_back({prompt, prompts[prompt], step});
    step += random.below(arrival_gap);
  }
  return requests;
}

}  // namespace serve
