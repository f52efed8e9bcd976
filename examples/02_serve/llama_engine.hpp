// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The forward pass on any execution space.
#ifndef SERVE_LLAMA_ENGINE_HPP
#define SERVE_LLAMA_ENGINE_HPP

#include "activations.hpp"
#include "batch.hpp"
#include "engine.hpp"
#include "kernels.hpp"
#include "recording.hpp"
#include "views.hpp"
#include "weights.hpp"

#include <invar/num/frequency.hpp>
#include <invar/op/argmax.hpp>
#include <invar/op/embedding.hpp>
#include <invar/op/rms_norm.hpp>
#include <invar/op/rope.hpp>
#include <invar/op/silu_mul.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>

namespace serve {

/// Copies each token's key and value into its row of the cache.
template <class T, class Exec>
struct StoreKv {
  Rows<T, Exec> keys, values;  // of the cache
  Rows<T, Exec> key, value;    // of the step's tokens
  List<int, Exec> rows;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const auto width = static_cast<std::int64_t>(key.extent(1));
    const std::int64_t token = i / width;
    const std::int64_t element = i % width;
    keys(rows(token), element) = key(token, element);
    values(rows(token), element) = value(token, element);
  }
};

/// The rotation frequency of each pair of a head, in radians per position.
inline Vector<HostExec> rope_frequencies(const ModelConfig& config) {
  const Vector<HostExec> frequencies("frequencies", config.rope_size / 2);
  for (std::size_t i = 0; i < frequencies.extent(0); ++i)
    frequencies(i) = static_cast<float>(invar::num::rope_inverse_frequency(
        static_cast<int>(i), static_cast<int>(config.rope_size), static_cast<double>(config.rope_base)));
  return frequencies;
}

/// T is what weights, activations and the cache are kept in. All work is launched on one instance of Exec.
template <class Exec, class T, class Kernels>
class LlamaEngine final : public Engine {
 public:
  LlamaEngine(const Exec& exec, const gguf::File& file, const ModelConfig& config, const ModelTensors& tensors,
              bool graph)
      : exec_(exec),
        config_(config),
        weights_(weights_on<Exec>(load_weights<T>(file, tensors))),
        frequencies_(in_memory_of<Exec>(rope_frequencies(config))),
        graph_(graph) {}

  void set_cache(const CacheShape& shape) override {
    recordings_.clear();
    keys_.clear();
    values_.clear();
    cache_ = shape;
    const auto pages = [&](const char* label) {
      return Pages<T, Exec>(uninitialized(label), shape.pages, shape.page_size, config_.kv_heads, config_.head_size);
    };
    for (std::size_t layer = 0; layer < config_.layers; ++layer) {
      keys_.push_back(pages("keys"));
      values_.push_back(pages("values"));
    }
  }

  std::vector<Prediction> step(std::span<const Slice> slices) override {
    const StepShape shape = shape_of(slices);
    reserve(shape);
    const Batch<Exec> batch = batches_.write(exec_, slices, cache_);
    const Activations<T, Exec> a = activations_.first(shape.tokens);
    const Outputs<T, Exec> outputs = outputs_.first(shape.wanted);
    const auto compute = [&] { forward(batch, a, outputs); };
    // A decode step differs from the last one of its size in the numbers of its batch only.
    if (graph_ && shape.is_decode())
      recordings_.run(exec_, shape.slices, compute);
    else
      compute();
    return fetch(outputs, shape.wanted);
  }

 private:
  using Layer = LayerWeights<typename ProductMatrix<T, Exec>::type, Exec>;

  /// Makes room for a step. What was recorded knows the old memory.
  void reserve(const StepShape& shape) {
    bool moved = batches_.reserve(shape, cache_.sequence_pages);
    if (activations_.residual.extent(0) < shape.tokens) {
      activations_ = Activations<T, Exec>::allocate(config_, std::bit_ceil(shape.tokens));
      moved = true;
    }
    // Room for a row is there even where none is wanted, so that the views have their widths.
    const std::size_t rows = std::bit_ceil(std::max<std::size_t>(1, shape.wanted));
    if (outputs_.last.extent(0) < rows) {
      outputs_ = Outputs<T, Exec>::allocate(config_, rows);
      moved = true;
    }
    if (moved) recordings_.clear();
  }

  void forward(const Batch<Exec>& batch, const Activations<T, Exec>& a, const Outputs<T, Exec>& outputs) {
    invar::embedding(exec_, a.residual, weights_.embedding, batch.token_ids);
    invar::rms_norm(exec_, a.normed, a.residual, weights_.layers.front().attention_norm, config_.norm_epsilon);
    for (std::size_t i = 0; i < config_.layers; ++i) {
      mix_tokens(i, batch, a);
      add_update(a, weights_.layers[i].feed_forward_norm);
      feed_forward(weights_.layers[i], a);
      add_update(a, i + 1 < config_.layers ? weights_.layers[i + 1].attention_norm : weights_.output_norm);
    }
    invar::embedding(exec_, outputs.last, a.normed, batch.logit_rows);  // picks rows
    Kernels::matmul(exec_, outputs.logits.device, outputs.last, weights_.output);
    invar::argmax(exec_, outputs.best.device, outputs.logits.device);
  }

  /// The attention half of layer i.
  void mix_tokens(std::size_t i, const Batch<Exec>& batch, const Activations<T, Exec>& a) {
    const Layer& layer = weights_.layers[i];
    Kernels::matmul(exec_, flat(a.query), a.normed, layer.query);
    Kernels::matmul(exec_, flat(a.key), a.normed, layer.key);
    Kernels::matmul(exec_, flat(a.value), a.normed, layer.value);
    invar::rope(exec_, a.query, a.query, batch.positions, frequencies_, invar::RopePairs::adjacent);
    invar::rope(exec_, a.key, a.key, batch.positions, frequencies_, invar::RopePairs::adjacent);
    const Rows<T, Exec> key = flat(a.key);
    Kokkos::parallel_for(
        "serve::store",
        Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec_, 0, static_cast<std::int64_t>(key.size())),
        StoreKv<T, Exec>{flat(keys_[i]), flat(values_[i]), key, flat(a.value), batch.cache_rows});
    Kernels::attention(exec_, a.mixed, a.query, invar::PagedKv{keys_[i], values_[i], batch.page_table},
                       batch.query_begin, batch.kv_length);
    Kernels::matmul(exec_, a.update, flat(a.mixed), layer.attention_output);
  }

  void feed_forward(const Layer& layer, const Activations<T, Exec>& a) {
    Kernels::matmul(exec_, a.gate, a.normed, layer.gate);
    Kernels::matmul(exec_, a.up, a.normed, layer.up);
    invar::silu_mul(exec_, a.gate, a.gate, a.up);
    Kernels::matmul(exec_, a.update, a.gate, layer.down);
  }

  /// Ends a half layer: its update joins the residual stream, whose norm the next half reads.
  void add_update(const Activations<T, Exec>& a, const Vector<Exec>& next_norm) {
    invar::rms_norm(exec_, a.normed, a.residual, a.residual, a.update, next_norm, config_.norm_epsilon);
  }

  std::vector<Prediction> fetch(const Outputs<T, Exec>& outputs, std::size_t rows) {
    outputs.logits.to_host(exec_);
    outputs.best.to_host(exec_);
    exec_.fence("serve::fetch");
    std::vector<Prediction> predictions;
    for (std::size_t row = 0; row < rows; ++row)
      predictions.push_back(
          {static_cast<Token>(outputs.best.host(row)), {&outputs.logits.host(row, 0), config_.vocabulary}});
    return predictions;
  }

  Exec exec_;
  ModelConfig config_;
  Weights<T, Exec> weights_;
  Vector<Exec> frequencies_;
  bool graph_;
  CacheShape cache_{};
  std::vector<Pages<T, Exec>> keys_, values_;  // a layer each
  BatchBuffer<Exec> batches_;
  Activations<T, Exec> activations_;
  Outputs<T, Exec> outputs_;
  Recordings<Exec> recordings_;
};

template <class Exec, class T>
std::unique_ptr<Engine> make_llama_engine(const Exec& exec, const gguf::File& file, const ModelConfig& config,
                                          const ModelTensors& tensors, const EngineOptions& options) {
  if (options.kernels == KernelKind::variant)
    return std::make_unique<LlamaEngine<Exec, T, VariantKernels>>(exec, file, config, tensors, options.graph);
  return std::make_unique<LlamaEngine<Exec, T, InvariantKernels>>(exec, file, config, tensors, options.graph);
}

}  // namespace serve

#endif
