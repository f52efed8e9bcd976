// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Damaged files either load or throw gguf::Error: no other exception, no crash, no access outside the file. The last is
// for the sanitizers to see, so each damaged copy has exactly the size of its content.
#include "chat.hpp"
#include "dequantize.hpp"
#include "gguf.hpp"
#include "model_config.hpp"
#include "tiny_models.hpp"
#include "tokenizer.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <functional>
#include <memory>

using serve_tests::Bytes;

namespace {

/// Everything that a program does with a model before it computes.
void use_model(const serve::gguf::File& file) {
  const serve::ModelConfig config = serve::read_model_config(file);
  const serve::ModelTensors tensors = serve::find_model_tensors(file, config);
  std::vector<float> weights(tensors.token_embedding->elements);
  serve::dequantize(file, *tensors.token_embedding, 0, weights);
}

void use_tokenizer(const serve::gguf::File& file) {
  const serve::Tokenizer tokenizer(file);
  const auto tokens = serve::Chat(file, tokenizer).prompt("ab abc <sep>\xc3\xa9 <s>");
  tokenizer.decode(tokens);
}

struct Outcome {
  int loaded = 0;
  int refused = 0;
  int other = 0;
};

void attempt(const Bytes& bytes, const std::function<void(const serve::gguf::File&)>& use, Outcome& outcome) {
  // A separate allocation without slack: the address sanitizer then sees a read past the end.
  const std::unique_ptr<std::byte[]> exact(new std::byte[bytes.size()]);
  std::copy(bytes.begin(), bytes.end(), exact.get());
  try {
    use(serve::gguf::File::parse({exact.get(), bytes.size()}, "damaged"));
    ++outcome.loaded;
  } catch (const serve::gguf::Error&) {
    ++outcome.refused;
  } catch (...) {
    ++outcome.other;
  }
}

Outcome truncate_everywhere(const Bytes& good, const std::function<void(const serve::gguf::File&)>& use) {
  Outcome outcome;
  for (std::size_t size = 0; size < good.size(); ++size)
    attempt(Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)), use, outcome);
  return outcome;
}

template <class T>
void overwrite_everywhere(const Bytes& good, std::initializer_list<T> values,
                          const std::function<void(const serve::gguf::File&)>& use, Outcome& outcome) {
  for (std::size_t position = 0; position + sizeof(T) <= good.size(); ++position)
    for (const T value : values) {
      Bytes damaged = good;
      std::memcpy(damaged.data() + position, &value, sizeof(T));
      attempt(damaged, use, outcome);
    }
}

Outcome damage_everywhere(const Bytes& good, const std::function<void(const serve::gguf::File&)>& use) {
  Outcome outcome;
  for (std::size_t position = 0; position < good.size(); ++position)
    for (const unsigned flip : {0x01u, 0x02u, 0x20u, 0x80u, 0xffu}) {
      Bytes damaged = good;
      damaged[position] ^= static_cast<std::byte>(flip);
      attempt(damaged, use, outcome);
    }
  overwrite_everywhere<std::uint32_t>(good, {0u, 0x7fffffffu, 0x80000000u, 0xffffffffu}, use, outcome);
  overwrite_everywhere<std::uint64_t>(
      good, {0u, 0x7fffffffffffffffu, 0x8000000000000000u, 0xffffffffffffffffu, 0xffffffffffffffe0u}, use, outcome);
  return outcome;
}

}  // namespace

TEST_CASE("a damaged model loads or is refused") {
  const Bytes good = serve_tests::tiny_llama().bytes();
  const auto use = [](const serve::gguf::File& file) {
    use_model(file);
    use_tokenizer(file);
  };
  REQUIRE_NOTHROW(use(serve::gguf::File::parse(good, "good")));

  const Outcome truncated = truncate_everywhere(good, use);
  CHECK(truncated.loaded == 0);
  CHECK(truncated.refused == static_cast<int>(good.size()));
  CHECK(truncated.other == 0);

  const Outcome damaged = damage_everywhere(good, use);
  CHECK(damaged.loaded > 0);
  CHECK(damaged.refused > 1000);
  CHECK(damaged.other == 0);
}

TEST_CASE("a damaged score vocabulary loads or is refused") {
  const Bytes good = serve_tests::tiny_score_vocabulary().bytes();
  REQUIRE_NOTHROW(use_tokenizer(serve::gguf::File::parse(good, "good")));

  const Outcome truncated = truncate_everywhere(good, use_tokenizer);
  CHECK(truncated.loaded == 0);
  CHECK(truncated.other == 0);

  const Outcome damaged = damage_everywhere(good, use_tokenizer);
  CHECK(damaged.loaded > 0);
  CHECK(damaged.refused > 1000);
  CHECK(damaged.other == 0);
}
