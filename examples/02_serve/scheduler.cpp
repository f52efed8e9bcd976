// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "scheduler.hpp"

#include <invar/verify/xxhash.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <deque>
#include <span>
#include <utility>

namespace serve {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Hands out pages of the cache, the one given back last first, so that a sequence's pages soon lie in any order.
class PagePool {
 public:
  explicit PagePool(std::size_t pages) {
    for (std::size_t page = pages; page > 0; --page) free_.push_back(static_cast<int>(page - 1));
  }
  std::vector<int> take(std::size_t count) {
    std::vector<int> pages(free_.end() - static_cast<std::ptrdiff_t>(count), free_.end());
    free_.resize(free_.size() - count);
    return pages;
  }
  void give_back(const std::vector<int>& pages) { free_.insert(free_.end(), pages.begin(), pages.end()); }

 private:
  std::vector<int> free_;
};

/// A digest of logits as they come, and its value after each token.
class LogitsHash {
 public:
  /// The floats as little-endian bytes, whatever the host is.
  void add(std::span<const float> values) {
    if constexpr (std::endian::native == std::endian::little) {
      hash_.update(values.data(), values.size_bytes());
    } else {
      for (const float value : values) {
        const auto bits = std::bit_cast<std::uint32_t>(value);
        const unsigned char bytes[4] = {static_cast<unsigned char>(bits), static_cast<unsigned char>(bits >> 8),
                                        static_cast<unsigned char>(bits >> 16), static_cast<unsigned char>(bits >> 24)};
        hash_.update(bytes, 4);
      }
    }
    digests_.push_back(hash_.digest());
  }
  const std::vector<std::uint64_t>& digests() const { return digests_; }

 private:
  invar::verify::Xxh64 hash_;
  std::vector<std::uint64_t> digests_;
};

/// A request in the batch.
struct Active {
  std::size_t request;
  std::vector<Token> tokens;  // the prompt's, then the answer's
  std::vector<int> pages;
  std::size_t computed = 0;  // positions whose keys and values are in the cache
  std::size_t largest_batch = 0;
  LogitsHash logits = {};
  bool finished = false;
};

std::size_t pages_for(const Request& request, const ScheduleOptions& options) {
  return (request.tokens.size() + options.max_tokens + options.page_size - 1) / options.page_size;
}

class Scheduler {
 public:
  Scheduler(Engine& engine, const std::vector<Request>& requests, const ScheduleOptions& options,
            const std::function<bool(Token)>& ends_answer, Random& random, RunStatistics& statistics)
      : engine_(engine),
        requests_(requests),
        options_(options),
        ends_answer_(ends_answer),
        random_(random),
        statistics_(statistics),
        cache_(cache_shape(requests, options)),
        pool_(cache_.pages),
        completions_(requests.size()) {
    engine.set_cache(cache_);
    for (std::size_t i = 0; i < requests.size(); ++i) waiting_.push_back(i);
    std::stable_sort(waiting_.begin(), waiting_.end(),
                     [&](std::size_t a, std::size_t b) { return requests[a].arrival < requests[b].arrival; });
  }

  std::vector<Completion> run(const std::function<void(std::size_t)>& progress) {
    const Clock::time_point start = Clock::now();
    for (std::size_t step = 0; finished_ < requests_.size(); ++step) {
      admit(step);
      if (active_.empty()) continue;
      compute();
      progress(finished_);
    }
    statistics_.seconds += seconds_since(start);
    return std::move(completions_);
  }

 private:
  /// Enough for a full batch of the largest requests, so that a place in the batch is all a request waits for.
  static CacheShape cache_shape(const std::vector<Request>& requests, const ScheduleOptions& options) {
    std::size_t most = 0;
    for (const Request& request : requests) most = std::max(most, pages_for(request, options));
    return {most * std::min(options.max_batch, requests.size()), options.page_size, most};
  }

  void admit(std::size_t step) {
    while (!waiting_.empty() && active_.size() < options_.max_batch) {
      const Request& request = requests_[waiting_.front()];
      if (request.arrival > step) return;
      active_.push_back({waiting_.front(), request.tokens, pool_.take(pages_for(request, options_))});
      waiting_.pop_front();
    }
  }

  void compute() {
    // A request's place in the batch changes from step to step.
    for (std::size_t i = active_.size(); i > 1; --i) std::swap(active_[i - 1], active_[random_.below(i)]);
    std::vector<Slice> slices;
    for (Active& active : active_) {
      slices.push_back(next_slice(active));
      active.largest_batch = std::max(active.largest_batch, active_.size());
    }
    const std::vector<Prediction> predictions = engine_.step(slices);
    ++statistics_.steps;
    std::size_t next = 0;
    for (std::size_t i = 0; i < slices.size(); ++i) {
      active_[i].computed += slices[i].tokens.size();
      if (slices[i].wants_logits) take(active_[i], predictions[next++]);
    }
    std::erase_if(active_, [](const Active& active) { return active.finished; });
  }

  /// A chunk of a prompt that is unfinished, or the answer's last token.
  Slice next_slice(const Active& active) {
    const std::size_t left = active.tokens.size() - active.computed;
    const std::size_t count = left == 1 ? 1 : std::min<std::size_t>(left, 1 + random_.below(options_.max_chunk));
    return {std::span(active.tokens).subspan(active.computed, count), active.computed, active.pages, count == left};
  }

  /// Appends the predicted token; a finished request gives its pages back.
  void take(Active& active, const Prediction& prediction) {
    const std::size_t prompt_tokens = requests_[active.request].tokens.size();
    active.logits.add(prediction.logits);
    active.tokens.push_back(prediction.token);
    const std::size_t answered = active.tokens.size() - prompt_tokens;
    if (answered < options_.max_tokens && !ends_answer_(prediction.token)) return;
    Completion& completion = completions_[active.request];
    completion.tokens.assign(active.tokens.end() - static_cast<std::ptrdiff_t>(answered), active.tokens.end());
    completion.digests = active.logits.digests();
    completion.logits_digest = completion.digests.back();
    completion.largest_batch = active.largest_batch;
    statistics_.prompt_tokens += prompt_tokens;
    statistics_.answer_tokens += answered;
    pool_.give_back(active.pages);
    active.finished = true;
    ++finished_;
  }

  Engine& engine_;
  const std::vector<Request>& requests_;
  const ScheduleOptions& options_;
  const std::function<bool(Token)>& ends_answer_;
  Random& random_;
  RunStatistics& statistics_;
  CacheShape cache_;
  PagePool pool_;
  std::vector<Completion> completions_;
  std::deque<std::size_t> waiting_;  // requests in the order of their arrival
  std::vector<Active> active_;
  std::size_t finished_ = 0;
};

}  // namespace

std::vector<Completion> serve_all(Engine& engine, const std::vector<Request>& requests, const ScheduleOptions& options,
                                  const std::function<bool(Token)>& ends_answer, Random& random,
                                  RunStatistics& statistics, const std::function<void(std::size_t)>& progress) {
  return Scheduler(engine, requests, options, ends_answer, random, statistics).run(progress);
}

Completion serve_alone(Engine& engine, const Request& request, std::size_t max_tokens,
                       const std::function<bool(Token)>& ends_answer, RunStatistics& statistics) {
  const Clock::time_point start = Clock::now();
  const std::size_t capacity = request.tokens.size() + max_tokens;
  engine.set_cache({1, capacity, 1});
  const std::vector<int> pages{0};
  std::vector<Token> tokens = request.tokens;
  LogitsHash logits;
  for (std::size_t computed = 0; tokens.size() < capacity;) {
    const Slice slice{std::span(tokens).subspan(computed), computed, pages, true};
    computed = tokens.size();
    const Prediction prediction = engine.step(std::span(&slice, 1)).front();
    ++statistics.steps;
    logits.add(prediction.logits);
    tokens.push_back(prediction.token);
    if (ends_answer(prediction.token)) break;
  }
  tokens.erase(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(request.tokens.size()));
  statistics.prompt_tokens += request.tokens.size();
  statistics.answer_tokens += tokens.size();
  statistics.seconds += seconds_since(start);
  return {tokens, logits.digests().back(), 1, logits.digests()};
}

}  // namespace serve
