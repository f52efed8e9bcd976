// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the example claims, on a small random model: a request's logits have the same bits in any batch as alone. CTest
// runs this program with several numbers of threads.
#include "random_llama.hpp"
#include "scheduler.hpp"
#include "workload.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

using serve::Completion;
using serve::KernelKind;
using serve::Precision;
using serve::Request;
using serve::ScheduleOptions;
using serve::Token;

namespace {

constexpr std::size_t max_tokens = 8;

/// Ends some answers before they are max_tokens long.
bool ends_answer(Token token) { return token % 9 == 0; }

/// Prompts of different length, requests for them, and how each prompt is answered alone.
struct Workload {
  explicit Workload(const std::vector<std::size_t>& sizes, std::size_t layers = 2)
      : model(serve_tests::random_llama(static_cast<std::uint32_t>(layers), 1)) {
    serve::Random random(2);
    for (const std::size_t size : sizes) prompts.push_back(serve_tests::random_prompt(size, random));
  }

  std::vector<Completion> alone(serve::Engine& engine) const {
    std::vector<Completion> completions;
    serve::RunStatistics ignored;
    for (std::size_t i = 0; i < prompts.size(); ++i)
      completions.push_back(serve::serve_alone(engine, {i, prompts[i], 0}, max_tokens, ends_answer, ignored));
    return completions;
  }

  serve_tests::Bytes model;
  std::vector<std::vector<Token>> prompts;
};

struct Batched {
  std::vector<Request> requests;
  std::vector<Completion> completions;
  serve::RunStatistics statistics;
};

Batched serve_batched(serve::Engine& engine, const Workload& workload, const ScheduleOptions& options,
                      std::size_t count, std::uint64_t seed) {
  serve::Random random(seed);
  Batched batched;
  batched.requests = serve::make_requests(workload.prompts, count, random);
  batched.completions =
      serve::serve_all(engine, batched.requests, options, ends_answer, random, batched.statistics, [](std::size_t) {});
  return batched;
}

/// Requests whose logits or tokens are not those of their prompt alone.
std::size_t count_different(const Batched& batched, const std::vector<Completion>& alone) {
  std::size_t different = 0;
  for (std::size_t i = 0; i < batched.requests.size(); ++i) {
    const Completion& expected = alone[batched.requests[i].prompt];
    const Completion& found = batched.completions[i];
    if (found.logits_digest != expected.logits_digest || found.tokens != expected.tokens) ++different;
  }
  return different;
}

const std::vector<std::size_t> usual_sizes{1, 7, 33, 64, 70};

/// Records what a scheduler asks of an engine, and checks that it makes sense.
class Recorder final : public serve::Engine {
 public:
  explicit Recorder(serve::Engine& engine) : engine_(engine) {}

  void set_cache(const serve::CacheShape& shape) override {
    cache_pages = shape.pages;
    page_size_ = shape.page_size;
    sequence_pages_ = shape.sequence_pages;
    engine_.set_cache(shape);
  }

  std::vector<serve::Prediction> step(std::span<const serve::Slice> slices) override {
    std::set<int> in_use;
    for (const serve::Slice& slice : slices) {
      CHECK(!slice.tokens.empty());
      CHECK(slice.first_position + slice.tokens.size() <= slice.pages.size() * page_size_);
      CHECK(slice.pages.size() <= sequence_pages_);
      for (const int page : slice.pages) {
        CHECK(page >= 0);
        CHECK(static_cast<std::size_t>(page) < cache_pages);
        CHECK_MESSAGE(in_use.insert(page).second, "two requests share a page");
        if (slice.first_position == 0) ++owners[page];
      }
      prefills_beside_others += slice.tokens.size() > 1 && slices.size() > 1 ? 1 : 0;
    }
    batch_sizes.insert(slices.size());
    return engine_.step(slices);
  }

  std::size_t cache_pages = 0;
  std::map<int, std::size_t> owners;  // requests that had a page, by page
  std::set<std::size_t> batch_sizes;
  std::size_t prefills_beside_others = 0;

 private:
  serve::Engine& engine_;
  std::size_t page_size_ = 0;
  std::size_t sequence_pages_ = 0;
};

}  // namespace

TEST_CASE("every chunk, page and batch size gives the bits of the request alone") {
  const Workload workload(usual_sizes);
  for (const Precision precision : {Precision::f32, Precision::bf16}) {
    const auto engine = serve_tests::load_engine(workload.model, {KernelKind::invariant, precision});
    const std::vector<Completion> alone = workload.alone(*engine);
    std::uint64_t seed = 100;
    for (const std::size_t chunk : {1, 3, 32})
      for (const std::size_t page_size : {1, 16, 128})
        for (const std::size_t max_batch : {1, 3, 8}) {
          CAPTURE(chunk);
          CAPTURE(page_size);
          CAPTURE(max_batch);
          const Batched batched =
              serve_batched(*engine, workload, {max_tokens, max_batch, chunk, page_size}, 8, ++seed);
          CHECK(count_different(batched, alone) == 0);
        }
  }
}

TEST_CASE("many seeds") {
  const Workload workload(usual_sizes);
  const auto engine = serve_tests::load_engine(workload.model, {KernelKind::invariant, Precision::f32});
  const std::vector<Completion> alone = workload.alone(*engine);
  for (std::uint64_t seed = 0; seed < 25; ++seed) {
    CAPTURE(seed);
    CHECK(count_different(serve_batched(*engine, workload, {max_tokens, 8, 32, 16}, 12, seed), alone) == 0);
  }
}

TEST_CASE("sequences longer than one split of attention") {
  const Workload workload({1020, 1100, 5, 2050}, 1);
  for (const Precision precision : {Precision::f32, Precision::bf16}) {
    const auto engine = serve_tests::load_engine(workload.model, {KernelKind::invariant, precision});
    const std::vector<Completion> alone = workload.alone(*engine);
    CHECK(count_different(serve_batched(*engine, workload, {max_tokens, 3, 300, 16}, 5, 7), alone) == 0);
    CHECK(count_different(serve_batched(*engine, workload, {max_tokens, 8, 1, 128}, 4, 8), alone) == 0);
  }
}

TEST_CASE("kernels that split by batch size are caught") {
  const Workload workload(usual_sizes);
  for (const Precision precision : {Precision::f32, Precision::bf16}) {
    const auto engine = serve_tests::load_engine(workload.model, {KernelKind::variant, precision});
    const std::vector<Completion> alone = workload.alone(*engine);
    CHECK(count_different(serve_batched(*engine, workload, {max_tokens, 8, 32, 16}, 12, 1), alone) > 0);
  }
}

TEST_CASE("the logits have the same bits with every compiler, processor and number of threads") {
  const Workload workload({33});
  for (const auto& [precision, digest] :
       {std::pair{Precision::f32, 0xc003a2f926ed919au}, std::pair{Precision::bf16, 0x8b7781019411ec28u}}) {
    const auto engine = serve_tests::load_engine(workload.model, {KernelKind::invariant, precision});
    CHECK(workload.alone(*engine).front().logits_digest == digest);
  }
}

TEST_CASE("answers end with an end token or at their limit") {
  const Workload workload(usual_sizes);
  const auto engine = serve_tests::load_engine(workload.model, {KernelKind::invariant, Precision::f32});
  const Batched batched = serve_batched(*engine, workload, {max_tokens, 3, 32, 16}, 10, 3);
  std::size_t early = 0, answer_tokens = 0, prompt_tokens = 0;
  for (std::size_t i = 0; i < batched.requests.size(); ++i) {
    const std::vector<Token>& tokens = batched.completions[i].tokens;
    REQUIRE(!tokens.empty());
    CHECK(std::none_of(tokens.begin(), tokens.end() - 1, ends_answer));
    CHECK((ends_answer(tokens.back()) || tokens.size() == max_tokens));
    early += tokens.size() < max_tokens ? 1 : 0;
    answer_tokens += tokens.size();
    prompt_tokens += batched.requests[i].tokens.size();
  }
  CHECK(early > 0);
  CHECK(early < batched.requests.size());
  CHECK(batched.statistics.answer_tokens == answer_tokens);
  CHECK(batched.statistics.prompt_tokens == prompt_tokens);
}

TEST_CASE("requests share steps, and pages go from one to another") {
  const Workload workload(usual_sizes);
  const auto engine = serve_tests::load_engine(workload.model, {KernelKind::invariant, Precision::f32});
  const std::vector<Completion> alone = workload.alone(*engine);
  Recorder recorder(*engine);
  const Batched batched = serve_batched(recorder, workload, {max_tokens, 4, 8, 16}, 20, 4);
  CHECK(count_different(batched, alone) == 0);
  CHECK(recorder.batch_sizes.size() > 1);
  CHECK(*recorder.batch_sizes.rbegin() == 4);
  CHECK(recorder.prefills_beside_others > 0);
  std::size_t most_owners = 0, most_shared = 0;
  for (const auto& [page, owners] : recorder.owners) most_owners = std::max(most_owners, owners);
  CHECK(most_owners > 1);
  for (const Completion& completion : batched.completions)
    most_shared = std::max(most_shared, completion.largest_batch);
  CHECK(most_shared == 4);
}

TEST_CASE("no request is no work") {
  const Workload workload({3});
  const auto engine = serve_tests::load_engine(workload.model, {KernelKind::invariant, Precision::f32});
  serve::Random random(1);
  serve::RunStatistics statistics;
  CHECK(serve::serve_all(*engine, {}, {max_tokens, 4, 8, 16}, ends_answer, random, statistics, [](std::size_t) {
        }).empty());
  CHECK(statistics.steps == 0);
}
