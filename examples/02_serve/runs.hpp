// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Requests answered by an engine, in a batch or each alone.
#ifndef SERVE_RUNS_HPP
#define SERVE_RUNS_HPP

#include "scheduler.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace serve {

/// What is to be answered, and how.
struct Job {
  const std::vector<Request>& requests;
  std::size_t prompts;  ///< that the requests chose from
  ScheduleOptions schedule;
  std::function<bool(Token)> ends_answer;
  Random random;  ///< each run starts with a copy, so that all runs of one schedule make the same choices
};

/// All requests in changing batches.
std::vector<Completion> answer_in_batch(Engine& engine, const Job& job, RunStatistics& statistics);

/// The first request of each prompt, alone: the answer to prompts[i], where it was asked.
std::vector<std::optional<Completion>> answer_alone(Engine& engine, const Job& job, RunStatistics& statistics);

}  // namespace serve

#endif
