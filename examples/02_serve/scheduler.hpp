// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Continuous batching: requests come and go while others are being answered.
#ifndef SERVE_SCHEDULER_HPP
#define SERVE_SCHEDULER_HPP

#include "engine.hpp"
#include "prompts.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace serve {

/// A prompt that wants an answer.
struct Request {
  std::size_t prompt = 0;     ///< index of the prompt
  std::vector<Token> tokens;  ///< of the prompt, at least one
  std::size_t arrival = 0;    ///< step at which it arrives
};

/// An answer.
struct Completion {
  std::vector<Token> tokens;                ///< the end token included, where there is one
  std::uint64_t logits_digest = 0;          ///< XXH64 over all logits that tokens were chosen from, in order
  std::size_t largest_batch = 0;            ///< most requests in a step that it was in, itself included
  std::vector<std::uint64_t> digests = {};  ///< for each token, over the logits of all tokens up to it
};

/// How requests are batched; every number is at least 1.
struct ScheduleOptions {
  std::size_t max_tokens;  ///< of one answer
  std::size_t max_batch;   ///< requests in one step
  std::size_t max_chunk;   ///< prompt tokens of one request in one step; each step draws a size from 1 to this
  std::size_t page_size;   ///< positions in one page of the cache
};

/// What a run did.
struct RunStatistics {
  std::size_t steps = 0;
  std::size_t prompt_tokens = 0;
  std::size_t answer_tokens = 0;
  double seconds = 0;
};

/// Answers all requests: each step admits arrived requests while there is room, takes a chunk of each prompt that is
/// unfinished and one token of each answer, and computes them in one batch, in random order. An answer ends with
/// max_tokens tokens or with one for which ends_answer(token) is true; its pages then go to the requests that wait.
/// What was done is added to `statistics`; progress(done) is called after each step with the number of finished
/// requests.
std::vector<Completion> serve_all(Engine& engine, const std::vector<Request>& requests, const ScheduleOptions& options,
                                  const std::function<bool(Token)>& ends_answer, Random& random,
                                  RunStatistics& statistics, const std::function<void(std::size_t)>& progress);

/// Answers one request alone: its prompt in one piece, one page that holds everything. Adds to `statistics`.
Completion serve_alone(Engine& engine, const Request& request, std::size_t max_tokens,
                       const std::function<bool(Token)>& ends_answer, RunStatistics& statistics);

}  // namespace serve

#endif
