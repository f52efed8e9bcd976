// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Complete models of a few kilobytes.
#ifndef SERVE_TESTS_TINY_MODELS_HPP
#define SERVE_TESTS_TINY_MODELS_HPP

#include "gguf_writer.hpp"

#include <cstdio>

namespace serve_tests {

/// One layer, width 32, 4 heads, 2 kv heads, 9 tokens in a byte-level vocabulary, weights of three types.
inline GgufWriter tiny_llama() {
  using enum serve::gguf::TensorType;
  GgufWriter writer;
  writer.entry<std::string>("general.architecture", "llama")
      .entry<std::string>("general.name", "tiny")
      .entry<std::uint32_t>("llama.block_count", 1)
      .entry<std::uint32_t>("llama.context_length", 64)
      .entry<std::uint32_t>("llama.embedding_length", 32)
      .entry<std::uint32_t>("llama.feed_forward_length", 64)
      .entry<std::uint32_t>("llama.attention.head_count", 4)
      .entry<std::uint32_t>("llama.attention.head_count_kv", 2)
      .entry<std::uint32_t>("llama.rope.dimension_count", 8)
      .entry<float>("llama.rope.freq_base", 10000.0f)
      .entry<float>("llama.attention.layer_norm_rms_epsilon", 1e-5f)
      .entry<std::string>("tokenizer.ggml.model", "gpt2")
      .entry<std::string>("tokenizer.ggml.pre", "gpt-2")
      .array<std::string>("tokenizer.ggml.tokens", {"<|im_start|>", "<|im_end|>", "a", "b", "c", "\xc4\xa0", "ab",
                                                    "\xc4\xa0"
                                                    "ab",
                                                    "abc"})
      .array<std::int32_t>("tokenizer.ggml.token_type", {3, 3, 1, 1, 1, 1, 1, 1, 1})
      .array<std::string>("tokenizer.ggml.merges", {"a b", "\xc4\xa0 ab", "ab c"})
      .entry<std::uint32_t>("tokenizer.ggml.bos_token_id", 0)
      .entry<std::uint32_t>("tokenizer.ggml.eos_token_id", 1)
      .entry<bool>("tokenizer.ggml.add_bos_token", false)
      .entry<std::string>("tokenizer.chat_template", "'<|im_start|>system\nabc<|im_end|>'")
      .tensor("token_embd.weight", q8_0, {32, 9}, 1)
      .tensor("blk.0.attn_norm.weight", f32, {32})
      .tensor("blk.0.attn_q.weight", q4_1, {32, 32}, 2)
      .tensor("blk.0.attn_k.weight", q4_1, {32, 16}, 3)
      .tensor("blk.0.attn_v.weight", q4_1, {32, 16}, 4)
      .tensor("blk.0.attn_output.weight", q4_1, {32, 32}, 5)
      .tensor("blk.0.ffn_norm.weight", f32, {32})
      .tensor("blk.0.ffn_gate.weight", q4_1, {32, 64}, 6)
      .tensor("blk.0.ffn_up.weight", q4_1, {32, 64}, 7)
      .tensor("blk.0.ffn_down.weight", q4_1, {64, 32}, 8)
      .tensor("output_norm.weight", f32, {32});
  return writer;
}

/// A vocabulary that merges by score: three control tokens, the 256 bytes, then <sep>, U+2581 a b c, ab, U+2581ab, abc.
inline GgufWriter tiny_score_vocabulary() {
  const std::string space = "\xe2\x96\x81";
  std::vector<std::string> tokens{"<unk>", "<s>", "</s>"};
  std::vector<std::int32_t> kinds{2, 3, 3};
  for (int byte = 0; byte < 256; ++byte) {
    char text[8];
    std::snprintf(text, sizeof(text), "<0x%02X>", static_cast<unsigned>(byte));
    tokens.push_back(text);
    kinds.push_back(6);
  }
  tokens.push_back("<sep>");
  kinds.push_back(4);
  for (const std::string& text : {space, std::string("a"), std::string("b"), std::string("c"), std::string("ab"),
                                  space + "ab", std::string("abc")}) {
    tokens.push_back(text);
    kinds.push_back(1);
  }
  std::vector<float> scores(tokens.size(), -100.0f);
  scores[tokens.size() - 3] = -1;
  scores[tokens.size() - 2] = -2;
  scores[tokens.size() - 1] = -3;
  GgufWriter writer(2);
  writer.entry<std::string>("tokenizer.ggml.model", "llama")
      .array("tokenizer.ggml.tokens", tokens)
      .array("tokenizer.ggml.token_type", kinds)
      .array("tokenizer.ggml.scores", scores)
      .entry<std::uint32_t>("tokenizer.ggml.bos_token_id", 1)
      .entry<std::uint32_t>("tokenizer.ggml.eos_token_id", 2);
  return writer;
}

}  // namespace serve_tests

#endif
