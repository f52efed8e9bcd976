// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Questions as the requests that a run serves.
#ifndef SERVE_WORKLOAD_HPP
#define SERVE_WORKLOAD_HPP

#include "chat.hpp"
#include "scheduler.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace serve {

/// The tokens of each question's prompt. Throws std::runtime_error, quoting the question, where it has no token or
/// where it and an answer of max_tokens do not fit into `context` positions.
std::vector<std::vector<Token>> make_prompts(const Chat& chat, const std::vector<std::string>& questions,
                                             std::size_t max_tokens, std::size_t context);

/// `count` requests for the prompts, at random times close enough to overlap.
std::vector<Request> make_requests(const std::vector<std::vector<Token>>& prompts, std::size_t count, Random& random);

}  // namespace serve

#endif
