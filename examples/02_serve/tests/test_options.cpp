// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "options.hpp"
#include "prompts.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <iostream>
#include <set>
#include <sstream>
#include <vector>

namespace {

/// Catches what a stream would print.
class Silence {
 public:
  explicit Silence(std::ostream& stream) : stream_(stream), before_(stream.rdbuf(caught_.rdbuf())) {}
  ~Silence() { stream_.rdbuf(before_); }

 private:
  std::ostringstream caught_;
  std::ostream& stream_;
  std::streambuf* before_;
};

std::optional<serve::Options> parse(std::vector<const char*> arguments, int& exit_code) {
  const Silence out(std::cout), err(std::cerr);
  arguments.insert(arguments.begin(), "serve");
  return serve::parse_options(static_cast<int>(arguments.size()), arguments.data(), exit_code);
}

}  // namespace

TEST_CASE("the command line") {
  int exit_code = 0;
  const auto defaults = parse({}, exit_code);
  REQUIRE(defaults);
  CHECK(defaults->model.empty());
  CHECK(defaults->kernels == "invariant");
  CHECK(defaults->threads == 0);
  CHECK(defaults->device == "cpu");
  CHECK(defaults->graph == "on");

  const auto given = parse({"--kernels",
                            "variant",
                            "--requests=3",
                            "--max-tokens",
                            "5",
                            "--max-batch",
                            "2",
                            "--chunk",
                            "7",
                            "--page-size",
                            "1",
                            "--seed",
                            "99",
                            "--threads",
                            "2",
                            "--precision",
                            "bf16",
                            "--device",
                            "both",
                            "--graph",
                            "off"},
                           exit_code);
  REQUIRE(given);
  CHECK(given->kernels == "variant");
  CHECK(given->requests == 3);
  CHECK(given->max_tokens == 5);
  CHECK(given->max_batch == 2);
  CHECK(given->chunk == 7);
  CHECK(given->page_size == 1);
  CHECK(given->seed == 99);
  CHECK(given->threads == 2);
  CHECK(given->precision == "bf16");
  CHECK(given->device == "both");
  CHECK(given->graph == "off");

  for (const std::vector<const char*>& wrong : std::vector<std::vector<const char*>>{{"--kernels", "fast"},
                                                                                     {"--device", "abacus"},
                                                                                     {"--graph", "maybe"},
                                                                                     {"--requests", "0"},
                                                                                     {"--chunk", "-1"},
                                                                                     {"--unknown"},
                                                                                     {"/nonexistent/model.gguf"}}) {
    exit_code = 0;
    CHECK_FALSE(parse(wrong, exit_code));
    CHECK(exit_code != 0);
  }
  exit_code = -1;
  CHECK_FALSE(parse({"--help"}, exit_code));
  CHECK(exit_code == 0);
}

TEST_CASE("prompts are drawn with a seed") {
  serve::Random first(0);
  // The published first values of SplitMix64 for seed 0.
  CHECK(first.next() == 0xe220a8397b1dcdafu);
  CHECK(first.next() == 0x6e789e6aa1b965f4u);

  const std::size_t prompts = serve::built_in_prompts().size();
  CHECK(prompts == 6);
  serve::Random a(5), b(5), c(6);
  const auto drawn = serve::draw_prompts(prompts, 40, a);
  CHECK(drawn == serve::draw_prompts(prompts, 40, b));
  CHECK(drawn != serve::draw_prompts(prompts, 40, c));
  CHECK(drawn.size() == 40);
  CHECK(std::set<std::size_t>(drawn.begin(), drawn.end()).size() == prompts);
  CHECK(*std::max_element(drawn.begin(), drawn.end()) == prompts - 1);
  serve::Random d(7);
  CHECK(serve::draw_prompts(prompts, 3, d).size() == 3);
}
