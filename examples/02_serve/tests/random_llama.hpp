// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Llama models with random weights, small enough to answer thousands of requests in a test.
#ifndef SERVE_TESTS_RANDOM_LLAMA_HPP
#define SERVE_TESTS_RANDOM_LLAMA_HPP

#include "engine.hpp"
#include "gguf_writer.hpp"
#include "prompts.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace serve_tests {

/// Numbers in [−scale, scale), multiples of scale · 2^−23, so that they have the same bits everywhere where scale is a
/// power of two.
inline Bytes random_floats(std::size_t count, float scale, serve::Random& random) {
  Bytes bytes;
  for (std::size_t i = 0; i < count; ++i)
    append(bytes, scale * (static_cast<float>(random.below(1u << 24)) * 0x1p-23f - 1.0f));
  return bytes;
}

/// Width 160, 4 heads of 40 that share 2 for keys and values, of which 32 elements are rotated, a vocabulary of 97 and
/// a context of 4096. Every inner length is longer than the shortest leaf of VariantKernels and no multiple of it.
inline Bytes random_llama(std::uint32_t layers, std::uint64_t seed) {
  using enum serve::gguf::TensorType;
  serve::Random random(seed);
  GgufWriter writer;
  writer.entry<std::string>("general.architecture", "llama")
      .entry<std::uint32_t>("llama.block_count", layers)
      .entry<std::uint32_t>("llama.context_length", 4096)
      .entry<std::uint32_t>("llama.embedding_length", 160)
      .entry<std::uint32_t>("llama.feed_forward_length", 208)
      .entry<std::uint32_t>("llama.attention.head_count", 4)
      .entry<std::uint32_t>("llama.attention.head_count_kv", 2)
      .entry<std::uint32_t>("llama.rope.dimension_count", 32)
      .entry<float>("llama.rope.freq_base", 10000.0f)
      .entry<float>("llama.attention.layer_norm_rms_epsilon", 1e-5f);
  const auto matrix = [&](const std::string& name, std::uint64_t rows, std::uint64_t columns, float scale) {
    writer.tensor(name, f32, {columns, rows}, random_floats(rows * columns, scale, random));
  };
  const auto vector = [&](const std::string& name) { writer.tensor(name, f32, {160}, random_floats(160, 1, random)); };
  matrix("token_embd.weight", 97, 160, 1);
  for (std::uint32_t layer = 0; layer < layers; ++layer) {
    const std::string prefix = "blk." + std::to_string(layer) + ".";
    vector(prefix + "attn_norm.weight");
    matrix(prefix + "attn_q.weight", 160, 160, 0.25f);
    matrix(prefix + "attn_k.weight", 80, 160, 0.25f);
    matrix(prefix + "attn_v.weight", 80, 160, 0.25f);
    matrix(prefix + "attn_output.weight", 160, 160, 0.25f);
    vector(prefix + "ffn_norm.weight");
    matrix(prefix + "ffn_gate.weight", 208, 160, 0.25f);
    matrix(prefix + "ffn_up.weight", 208, 160, 0.25f);
    matrix(prefix + "ffn_down.weight", 160, 208, 0.25f);
  }
  vector("output_norm.weight");
  matrix("output.weight", 97, 160, 0.5f);
  return writer.bytes();
}

/// An engine for the bytes of a model, which it does not refer to afterwards.
inline std::unique_ptr<serve::Engine> load_engine(const Bytes& bytes, const serve::EngineOptions& options) {
  const serve::gguf::File file = serve::gguf::File::parse(bytes, "random");
  const serve::ModelConfig config = serve::read_model_config(file);
  return serve::make_engine(file, config, serve::find_model_tensors(file, config), options);
}

/// A prompt of `size` tokens of the vocabulary of random_llama.
inline std::vector<serve::Token> random_prompt(std::size_t size, serve::Random& random) {
  std::vector<serve::Token> tokens;
  for (std::size_t i = 0; i < size; ++i) tokens.push_back(static_cast<serve::Token>(random.below(97)));
  return tokens;
}

}  // namespace serve_tests

#endif
