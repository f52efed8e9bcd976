// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "prompts.hpp"

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <utility>

namespace serve {

std::vector<std::string> built_in_prompts() {
  return {
      "What is gravity?",
      "Write a short poem about the sea at night.",
      "Explain in two sentences why the sky is blue, as if I were five years old.",
      "I have 12 apples, give away 5 and buy 8 more. How many apples do I have now? Show each step.",
      "Give me three ideas for a cheap weekend trip with children, each with one sentence that says what we would need "
      "to pack and how long the journey should take.",
      "Here is a note from a meeting: \"Anna will write the report by Friday. Ben checks the numbers on Thursday. "
      "Carla calls the customer after both are done, and if the customer agrees, the order goes out on Monday. "
      "Nobody has booked the room for next week yet.\" Summarize the note as a list of tasks with the name of the "
      "person and the day for each task, and say which task has nobody assigned to it.",
  };
}

std::vector<std::string> read_prompts(const std::filesystem::path& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error(path.string() + ": cannot open the file of prompts");
  std::vector<std::string> prompts;
  for (std::string line; std::getline(in, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) prompts.push_back(line);
  }
  if (in.bad()) throw std::runtime_error(path.string() + ": cannot read the file of prompts");
  if (prompts.empty()) throw std::runtime_error(path.string() + ": the file holds no prompt");
  return prompts;
}

std::uint64_t Random::next() {
  state_ += 0x9e3779b97f4a7c15u;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

std::vector<std::size_t> draw_prompts(std::size_t prompts, std::size_t requests, Random& random) {
  std::vector<std::size_t> drawn;
  for (std::size_t i = 0; i < requests; ++i) drawn.push_back(i < prompts ? i : random.below(prompts));
  for (std::size_t i = drawn.size(); i > 1; --i) std::swap(drawn[i - 1], drawn[random.below(i)]);
  return drawn;
}

}  // namespace serve
