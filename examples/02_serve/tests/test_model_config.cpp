// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "model_config.hpp"
#include "tiny_models.hpp"

#include <doctest/doctest.h>

using serve::gguf::Error;
using serve::gguf::File;
using serve_tests::Bytes;
using serve_tests::GgufWriter;
using serve_tests::tiny_llama;

namespace {

std::string refusal(const GgufWriter& writer) {
  const Bytes bytes = writer.bytes();
  const File file = File::parse(bytes, "test");
  try {
    serve::find_model_tensors(file, serve::read_model_config(file));
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("hyperparameters and tensors of a small model") {
  const Bytes bytes = tiny_llama().bytes();
  const File file = File::parse(bytes, "test");
  const serve::ModelConfig config = serve::read_model_config(file);
  CHECK(config.name == "tiny");
  CHECK(config.layers == 1);
  CHECK(config.embedding == 32);
  CHECK(config.heads == 4);
  CHECK(config.kv_heads == 2);
  CHECK(config.head_size == 8);
  CHECK(config.query_width() == 32);
  CHECK(config.kv_width() == 16);
  CHECK(config.feed_forward == 64);
  CHECK(config.vocabulary == 9);
  CHECK(config.context == 64);
  CHECK(config.rope_size == 8);
  CHECK(config.rope_base == 10000.0f);
  CHECK(config.norm_epsilon == 1e-5f);
  CHECK(config.tied_output);

  const serve::ModelTensors tensors = serve::find_model_tensors(file, config);
  REQUIRE(tensors.layers.size() == 1);
  CHECK(tensors.output == tensors.token_embedding);
  CHECK(tensors.layers[0].key->name == "blk.0.attn_k.weight");
  CHECK(tensors.layers[0].down->shape == std::vector<std::uint64_t>{64, 32});
}

TEST_CASE("an output projection of its own") {
  const Bytes bytes = tiny_llama().tensor("output.weight", serve::gguf::TensorType::q8_0, {32, 9}).bytes();
  const File file = File::parse(bytes, "test");
  const serve::ModelConfig config = serve::read_model_config(file);
  CHECK_FALSE(config.tied_output);
  CHECK(serve::find_model_tensors(file, config).output->name == "output.weight");
}

TEST_CASE("what would need other arithmetic is refused") {
  using enum serve::gguf::TensorType;
  const auto refuses = [](const GgufWriter& writer, const char* expected) {
    const std::string message = refusal(writer);
    INFO("found '", message, "'");
    CHECK(message.find(expected) != std::string::npos);
  };
  CHECK(refusal(tiny_llama()) == "accepted");
  CHECK(refusal(tiny_llama().entry<std::string>("llama.rope.scaling.type", "none")) == "accepted");
  refuses(tiny_llama().entry<std::string>("llama.rope.scaling.type", "yarn"), "rope scaling of type 'yarn'");
  refuses(tiny_llama().entry<float>("llama.rope.scaling.factor", 2.0f), "rope scaling is not supported");
  refuses(tiny_llama().tensor("rope_freqs.weight", f32, {4}), "frequency factors");
  refuses(tiny_llama().entry<std::uint32_t>("llama.expert_count", 8), "experts");
  refuses(tiny_llama().entry<std::uint32_t>("llama.attention.sliding_window", 32), "sliding-window");
  refuses(tiny_llama().entry<bool>("llama.attention.causal", false), "only causal");
  refuses(tiny_llama().entry<std::uint32_t>("llama.attention.value_length", 16), "different size");
  refuses(tiny_llama().entry<std::uint32_t>("llama.vocab_size", 10), "has 9 rows");
  refuses(tiny_llama().tensor("blk.0.attn_q.bias", f32, {32}), "'blk.0.attn_q.bias' has no place");
  refuses(tiny_llama().tensor("output.weight", f32, {32, 8}), "has the shape [32, 8], expected [32, 9]");
  refuses(tiny_llama().tensor("output.weight", iq4_nl, {32, 9}), "element type IQ4_NL");
  refuses(GgufWriter().entry<std::string>("general.architecture", "bert"), "architecture 'bert' is not supported");
  refuses(GgufWriter().entry<bool>("other", true), "'general.architecture' is missing");
}
