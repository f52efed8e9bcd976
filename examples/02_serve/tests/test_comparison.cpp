// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "comparison.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>

using serve::Completion;

namespace {

/// Two answers of three and two tokens.
std::vector<Completion> answers() { return {{{2, 3, 4}, 12, 1, {10, 11, 12}}, {{5, 6}, 21, 1, {20, 21}}}; }

serve::DeviceRun device_run(std::vector<Completion> completions) {
  return {"abacus", "alone", "-", std::move(completions), {2, 3, 5, 0.5}};
}

std::string print(const std::vector<serve::DeviceRun>& runs, bool& equal) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
  REQUIRE(file);
  equal = serve::print_comparison(file.get(), runs, "invariant", 100);
  std::rewind(file.get());
  std::string text;
  for (int c; (c = std::fgetc(file.get())) != EOF;) text += static_cast<char>(c);
  return text;
}

}  // namespace

TEST_CASE("the first token with other logits is found") {
  CHECK_FALSE(serve::first_difference(answers(), answers()));
  CHECK(serve::equal_tokens(answers(), answers()) == 5);

  std::vector<Completion> other = answers();
  other[1].digests[0] ^= 1;
  other[1].digests[1] ^= 1;
  auto difference = serve::first_difference(answers(), other);
  REQUIRE(difference);
  CHECK(difference->request == 1);
  CHECK(difference->token == 0);
  CHECK(serve::equal_tokens(answers(), other) == 3);

  other = answers();
  other[0].tokens[2] = 9;  // the same logits, another choice
  difference = serve::first_difference(answers(), other);
  REQUIRE(difference);
  CHECK(difference->request == 0);
  CHECK(difference->token == 2);

  other = answers();
  other[0].tokens.pop_back();
  other[0].digests.pop_back();
  difference = serve::first_difference(other, answers());
  REQUIRE(difference);
  CHECK(difference->request == 0);
  CHECK(difference->token == 2);

  other = answers();
  other.pop_back();
  CHECK(serve::first_difference(answers(), other));
}

TEST_CASE("the digest of all depends on every request's") {
  std::vector<Completion> other = answers();
  CHECK(serve::digest_of_all(answers()) == serve::digest_of_all(other));
  other[1].logits_digest ^= std::uint64_t{1} << 63;
  CHECK(serve::digest_of_all(answers()) != serve::digest_of_all(other));
}

TEST_CASE("the comparison ends with its summary") {
  bool equal = false;
  std::string text = print({device_run(answers()), device_run(answers())}, equal);
  CHECK(equal);
  CHECK(text.ends_with("summary: invariant kernels: 2 requests, 5 tokens, 500 logits in each of 2 runs: all equal\n"));

  std::vector<Completion> other = answers();
  other[1].digests[1] = other[1].logits_digest = 0;
  text = print({device_run(answers()), device_run(answers()), device_run(other)}, equal);
  CHECK_FALSE(equal);
  CHECK(text.find("line 3: the logits part from the first line's at token 2 of request 1\n") != std::string::npos);
  CHECK(text.ends_with("in each of 3 runs: 1 DIFFERENT\n"));
}
