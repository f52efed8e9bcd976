// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "model_config.hpp"

#include "dequantize.hpp"

#include <cmath>
#include <cstdint>
#include <set>

namespace serve {
namespace {

/// Counts above this are no model's, and products of a few of them still fit 64 bits.
constexpr std::uint32_t largest_count = 1u << 24;

std::size_t checked_count(const gguf::File& file, const std::string& key, std::uint32_t count) {
  if (count == 0 || count > largest_count)
    file.fail("metadata key '" + key + "' is " + std::to_string(count) + ", which is not a sensible size");
  return count;
}

std::size_t count(const gguf::File& file, const std::string& key) {
  return checked_count(file, key, file.get<std::uint32_t>(key));
}

std::size_t count_or(const gguf::File& file, const std::string& key, std::size_t otherwise) {
  return file.has(key) ? count(file, key) : otherwise;
}

float positive(const gguf::File& file, const std::string& key, float value) {
  if (!std::isfinite(value) || value <= 0)
    file.fail("metadata key '" + key + "' is " + std::to_string(value) + ", which is not a positive number");
  return value;
}

void refuse_variants(const gguf::File& file) {
  if (file.get_or<std::uint32_t>("llama.expert_count", 0) != 0)
    file.fail("models with experts are not supported (metadata key 'llama.expert_count')");
  const auto scaling = file.get_or<std::string_view>("llama.rope.scaling.type", "none");
  if (scaling != "none")
    file.fail("rope scaling of type '" + gguf::printable(scaling) + "' is not supported, only 'none' is");
  for (const std::string key : {"llama.rope.scale_linear", "llama.rope.scaling.factor"})
    if (file.get_or<float>(key, 1.0f) != 1.0f) file.fail("rope scaling is not supported (metadata key '" + key + "')");
  if (file.find_tensor("rope_freqs.weight"))
    file.fail("rope scaling by frequency factors is not supported (tensor 'rope_freqs.weight')");
  if (file.get_or<std::uint32_t>("llama.attention.sliding_window", 0) != 0)
    file.fail("sliding-window attention is not supported (metadata key 'llama.attention.sliding_window')");
  if (!file.get_or<bool>("llama.attention.causal", true))
    file.fail("only causal attention is supported (metadata key 'llama.attention.causal')");
}

/// Hands out tensors by name, checks each, and knows in the end which of the file's were not asked for.
class TensorFinder {
 public:
  explicit TensorFinder(const gguf::File& file) : file_(file) {}

  const gguf::Tensor* vector(const std::string& name, std::size_t size) { return find(name, {size}); }

  const gguf::Tensor* matrix(const std::string& name, std::size_t rows, std::size_t columns) {
    return find(name, {columns, rows});
  }

  void refuse_others() const {
    for (const gguf::Tensor& tensor : file_.tensors())
      if (!used_.contains(tensor.name))
        file_.fail("tensor '" + gguf::printable(tensor.name) +
                   "' has no place in this model; leaving it out would give other answers");
  }

 private:
  static std::string shape_text(const std::vector<std::uint64_t>& shape) {
    std::string text;
    for (const std::uint64_t extent : shape) text += (text.empty() ? "[" : ", ") + std::to_string(extent);
    return text + "]";
  }

  const gguf::Tensor* find(const std::string& name, const std::vector<std::uint64_t>& shape) {
    const gguf::Tensor& tensor = file_.tensor(name);
    std::vector<std::uint64_t> found = tensor.shape;
    while (found.size() > shape.size() && found.back() == 1) found.pop_back();
    if (found != shape)
      file_.fail("tensor '" + name + "' has the shape " + shape_text(tensor.shape) + ", expected " + shape_text(shape));
    require_dequantizable(file_, tensor);
    used_.insert(tensor.name);
    return &tensor;
  }

  const gguf::File& file_;
  std::set<std::string_view> used_;
};

LayerTensors find_layer(TensorFinder& finder, const ModelConfig& config, std::size_t index) {
  const std::string prefix = "blk." + std::to_string(index) + ".";
  LayerTensors layer{};
  layer.attention_norm = finder.vector(prefix + "attn_norm.weight", config.embedding);
  layer.query = finder.matrix(prefix + "attn_q.weight", config.query_width(), config.embedding);
  layer.key = finder.matrix(prefix + "attn_k.weight", config.kv_width(), config.embedding);
  layer.value = finder.matrix(prefix + "attn_v.weight", config.kv_width(), config.embedding);
  layer.attention_output = finder.matrix(prefix + "attn_output.weight", config.embedding, config.query_width());
  layer.feed_forward_norm = finder.vector(prefix + "ffn_norm.weight", config.embedding);
  layer.gate = finder.matrix(prefix + "ffn_gate.weight", config.feed_forward, config.embedding);
  layer.up = finder.matrix(prefix + "ffn_up.weight", config.feed_forward, config.embedding);
  layer.down = finder.matrix(prefix + "ffn_down.weight", config.embedding, config.feed_forward);
  return layer;
}

}  // namespace

ModelConfig read_model_config(const gguf::File& file) {
  const auto architecture = file.get<std::string_view>("general.architecture");
  if (architecture != "llama")
    file.fail("the architecture '" + gguf::printable(architecture) + "' is not supported, only 'llama' is");
  refuse_variants(file);

  ModelConfig config{};
  config.name = file.get_or<std::string_view>("general.name", "unnamed");
  config.layers = count(file, "llama.block_count");
  config.embedding = count(file, "llama.embedding_length");
  config.feed_forward = count(file, "llama.feed_forward_length");
  config.context = count(file, "llama.context_length");
  config.heads = count(file, "llama.attention.head_count");
  config.kv_heads = count_or(file, "llama.attention.head_count_kv", config.heads);
  if (config.heads % config.kv_heads != 0)
    file.fail("the number of heads, " + std::to_string(config.heads) + ", is no multiple of the number of kv heads, " +
              std::to_string(config.kv_heads));
  if (!file.has("llama.attention.key_length") && config.embedding % config.heads != 0)
    file.fail("the embedding length, " + std::to_string(config.embedding) +
              ", is no multiple of the number of heads, " + std::to_string(config.heads));
  config.head_size = count_or(file, "llama.attention.key_length", config.embedding / config.heads);
  if (count_or(file, "llama.attention.value_length", config.head_size) != config.head_size)
    file.fail("keys and values of different size are not supported");
  config.rope_size = count_or(file, "llama.rope.dimension_count", config.head_size);
  if (config.rope_size % 2 != 0 || config.rope_size > config.head_size)
    file.fail("metadata key 'llama.rope.dimension_count' is " + std::to_string(config.rope_size) +
              ", expected an even number up to the head size " + std::to_string(config.head_size));
  config.rope_base = positive(file, "llama.rope.freq_base", file.get_or<float>("llama.rope.freq_base", 10000.0f));
  const std::string epsilon = "llama.attention.layer_norm_rms_epsilon";
  config.norm_epsilon = positive(file, epsilon, file.get<float>(epsilon));
  config.tied_output = file.find_tensor("output.weight") == nullptr;

  const gguf::Tensor& embedding = file.tensor("token_embd.weight");
  config.vocabulary = embedding.elements / embedding.shape[0];
  const auto stated = count_or(file, "llama.vocab_size", config.vocabulary);
  if (stated != config.vocabulary)
    file.fail("metadata key 'llama.vocab_size' is " + std::to_string(stated) + " but the token embedding has " +
              std::to_string(config.vocabulary) + " rows");
  return config;
}

ModelTensors find_model_tensors(const gguf::File& file, const ModelConfig& config) {
  TensorFinder finder(file);
  ModelTensors tensors{};
  tensors.token_embedding = finder.matrix("token_embd.weight", config.vocabulary, config.embedding);
  for (std::size_t i = 0; i < config.layers; ++i) tensors.layers.push_back(find_layer(finder, config, i));
  tensors.output_norm = finder.vector("output_norm.weight", config.embedding);
  tensors.output = config.tied_output ? tensors.token_embedding
                                      : finder.matrix("output.weight", config.vocabulary, config.embedding);
  finder.refuse_others();
  return tensors;
}

}  // namespace serve
