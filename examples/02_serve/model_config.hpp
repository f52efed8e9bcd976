// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The shape of a llama model, and its tensors by their role.
#ifndef SERVE_MODEL_CONFIG_HPP
#define SERVE_MODEL_CONFIG_HPP

#include "gguf.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace serve {

struct ModelConfig {
  std::string name;
  std::size_t layers;
  std::size_t embedding;     ///< width of the residual stream
  std::size_t heads;         ///< query heads
  std::size_t kv_heads;      ///< key and value heads; divides heads
  std::size_t head_size;     ///< elements of one head, for queries, keys and values alike
  std::size_t feed_forward;  ///< width between the feed-forward projections
  std::size_t vocabulary;
  std::size_t context;    ///< positions the model was made for
  std::size_t rope_size;  ///< leading elements of a head that are rotated, in adjacent pairs (2i, 2i + 1)
  float rope_base;        ///< pair i turns by position · rope_base^(−2i / rope_size)
  float norm_epsilon;
  bool tied_output;  ///< the output projection is the embedding table

  std::size_t query_width() const { return heads * head_size; }
  std::size_t kv_width() const { return kv_heads * head_size; }
};

/// Reads the hyperparameters. Throws gguf::Error for another architecture than llama, and for variants of it that
/// would need other arithmetic: experts, rope scaling, sliding windows, keys and values of different size.
ModelConfig read_model_config(const gguf::File& file);

/// Matrices are [rows, columns] = [outputs, inputs], row-major.
struct LayerTensors {
  const gguf::Tensor* attention_norm;     ///< [embedding]
  const gguf::Tensor* query;              ///< [heads · head_size, embedding]
  const gguf::Tensor* key;                ///< [kv_heads · head_size, embedding]
  const gguf::Tensor* value;              ///< [kv_heads · head_size, embedding]
  const gguf::Tensor* attention_output;   ///< [embedding, heads · head_size]
  const gguf::Tensor* feed_forward_norm;  ///< [embedding]
  const gguf::Tensor* gate;               ///< [feed_forward, embedding]
  const gguf::Tensor* up;                 ///< [feed_forward, embedding]
  const gguf::Tensor* down;               ///< [embedding, feed_forward]
};

/// The tensors of a model; the pointers live as long as the file.
struct ModelTensors {
  const gguf::Tensor* token_embedding;  ///< [vocabulary, embedding]
  std::vector<LayerTensors> layers;
  const gguf::Tensor* output_norm;  ///< [embedding]
  const gguf::Tensor* output;       ///< [vocabulary, embedding]; the token embedding where that is tied
};

/// Finds all tensors and checks their shapes and types. Throws gguf::Error where one is missing, has another shape or
/// a type that cannot be read, and where the file holds a tensor that this model would not use.
ModelTensors find_model_tensors(const gguf::File& file, const ModelConfig& config);

}  // namespace serve

#endif
