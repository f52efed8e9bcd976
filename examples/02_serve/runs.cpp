// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runs.hpp"

#include <unistd.h>

#include <cstdio>

namespace serve {
namespace {

/// A line on a terminal that is written over; nothing elsewhere.
void show_progress(const char* what, std::size_t done, std::size_t all) {
  if (!isatty(STDERR_FILENO)) return;
  std::fprintf(stderr, "\r%s: %zu of %zu%s", what, done, all, done == all ? "\n" : "");
  std::fflush(stderr);
}

}  // namespace

std::vector<Completion> answer_in_batch(Engine& engine, const Job& job, RunStatistics& statistics) {
  Random random = job.random;
  return serve_all(engine, job.requests, job.schedule, job.ends_answer, random, statistics, [&](std::size_t done) {
    show_progress("requests answered in the batch", done, job.requests.size());
  });
}

std::vector<std::optional<Completion>> answer_alone(Engine& engine, const Job& job, RunStatistics& statistics) {
  std::vector<std::optional<Completion>> by_prompt(job.prompts);
  std::size_t done = 0;
  for (const Request& request : job.requests) {
    std::optional<Completion>& completion = by_prompt[request.prompt];
    if (!completion) completion = serve_alone(engine, request, job.schedule.max_tokens, job.ends_answer, statistics);
    show_progress("requests answered alone", ++done, job.requests.size());
  }
  return by_prompt;
}

}  // namespace serve
