// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "engine.hpp"

#include "kernels.hpp"
#include "weights.hpp"

#include <invar/num/frequency.hpp>
#include <invar/op/argmax.hpp>
#include <invar/op/embedding.hpp>
#include <invar/op/rms_norm.hpp>
#include <invar/op/rope.hpp>
#include <invar/op/silu_mul.hpp>

#include <algorithm>
#include <cstdint>

namespace serve {
namespace {

template <class T>
using Rows = Kokkos::View<T**, Kokkos::LayoutRight, Exec>;
template <class T>
using Heads = Kokkos::View<T***, Kokkos::LayoutRight, Exec>;
template <class T>
using Pages = Kokkos::View<T****, Kokkos::LayoutRight, Exec>;
using Integers = Kokkos::View<int*, Exec>;

/// Where each token of a step belongs.
struct Batch {
  Integers token_ids;
  Integers positions;
  Integers page;         ///< of the token's own key and value
  Integers slot;         ///< inside that page
  Integers query_begin;  ///< [slices + 1]
  Integers kv_length;    ///< [slices]
  Rows<int> page_table;  ///< [slices, most pages of a slice]
  Integers logit_rows;   ///< tokens whose logits are wanted
};

Batch describe(std::span<const Slice> slices, std::size_t page_size) {
  std::size_t tokens = 0, most_pages = 0, wanted = 0;
  for (const Slice& slice : slices) {
    tokens += slice.tokens.size();
    most_pages = std::max(most_pages, slice.pages.size());
    wanted += slice.wants_logits ? 1 : 0;
  }
  Batch batch{Integers("token_ids", tokens),
              Integers("positions", tokens),
              Integers("page", tokens),
              Integers("slot", tokens),
              Integers("query_begin", slices.size() + 1),
              Integers("kv_length", slices.size()),
              Rows<int>("page_table", slices.size(), most_pages),
              Integers("logit_rows", wanted)};
  std::size_t token = 0, row = 0;
  for (std::size_t s = 0; s < slices.size(); ++s) {
    const Slice& slice = slices[s];
    for (std::size_t i = 0; i < slice.tokens.size(); ++i, ++token) {
      const std::size_t position = slice.first_position + i;
      batch.token_ids(token) = slice.tokens[i];
      batch.positions(token) = static_cast<int>(position);
      batch.page(token) = slice.pages[position / page_size];
      batch.slot(token) = static_cast<int>(position % page_size);
    }
    batch.query_begin(s + 1) = static_cast<int>(token);
    batch.kv_length(s) = static_cast<int>(slice.first_position + slice.tokens.size());
    for (std::size_t p = 0; p < slice.pages.size(); ++p) batch.page_table(s, p) = slice.pages[p];
    if (slice.wants_logits) batch.logit_rows(row++) = static_cast<int>(token) - 1;
  }
  return batch;
}

/// Copies each token's heads into its slot of the cache.
template <class T>
void store(const Exec& exec, const Pages<T>& cache, const Heads<T>& heads, const Batch& batch) {
  Kokkos::parallel_for(
      "serve::store", Kokkos::RangePolicy<Exec>(exec, 0, static_cast<int>(heads.extent(0))), KOKKOS_LAMBDA(int token) {
        for (std::size_t h = 0; h < heads.extent(1); ++h)
          for (std::size_t d = 0; d < heads.extent(2); ++d)
            cache(batch.page(token), batch.slot(token), h, d) = heads(token, h, d);
      });
}

/// The same memory as [tokens, heads · head size].
template <class T>
Rows<T> flat(const Heads<T>& heads) {
  return Rows<T>(heads.data(), heads.extent(0), heads.extent(1) * heads.extent(2));
}

/// The rotation frequency of each pair of a head, in radians per position.
Vector rope_frequencies(const ModelConfig& config) {
  const Vector frequencies("frequencies", config.rope_size / 2);
  for (std::size_t i = 0; i < frequencies.extent(0); ++i)
    frequencies(i) = static_cast<float>(invar::num::rope_inverse_frequency(
        static_cast<int>(i), static_cast<int>(config.rope_size), static_cast<double>(config.rope_base)));
  return frequencies;
}

/// What a step computes, a row a token.
template <class T>
struct Activations {
  Activations(const ModelConfig& config, std::size_t tokens)
      : residual("residual", tokens, config.embedding),
        normed("normed", tokens, config.embedding),
        update("update", tokens, config.embedding),
        query("query", tokens, config.heads, config.head_size),
        key("key", tokens, config.kv_heads, config.head_size),
        value("value", tokens, config.kv_heads, config.head_size),
        mixed("mixed", tokens, config.heads, config.head_size),
        gate("gate", tokens, config.feed_forward),
        up("up", tokens, config.feed_forward) {}

  Rows<T> residual;  // the residual stream
  Rows<T> normed;    // its norm, which the next half layer reads
  Rows<T> update;    // what a half layer adds to it
  Heads<T> query, key, value;
  Heads<T> mixed;  // values as attention mixes them
  Rows<T> gate, up;
};

template <class T, class Kernels>
class LlamaEngine final : public Engine {
 public:
  LlamaEngine(const gguf::File& file, const ModelConfig& config, const ModelTensors& tensors)
      : config_(config), weights_(load_weights<T>(file, tensors)), frequencies_(rope_frequencies(config)) {}

  void set_cache(std::size_t pages, std::size_t page_size) override {
    keys_.clear();
    values_.clear();
    for (std::size_t layer = 0; layer < config_.layers; ++layer) {
      keys_.emplace_back("keys", pages, page_size, config_.kv_heads, config_.head_size);
      values_.emplace_back("values", pages, page_size, config_.kv_heads, config_.head_size);
    }
  }

  std::vector<Prediction> step(std::span<const Slice> slices) override {
    const Batch batch = describe(slices, keys_.front().extent(1));
    const Activations<T> a(config_, batch.token_ids.extent(0));
    invar::embedding(exec_, a.residual, weights_.embedding, batch.token_ids);
    invar::rms_norm(exec_, a.normed, a.residual, weights_.layers.front().attention_norm, config_.norm_epsilon);
    for (std::size_t i = 0; i < config_.layers; ++i) {
      mix_tokens(i, batch, a);
      add_update(a, weights_.layers[i].feed_forward_norm);
      feed_forward(weights_.layers[i], a);
      add_update(a, i + 1 < config_.layers ? weights_.layers[i + 1].attention_norm : weights_.output_norm);
    }
    return predict(a.normed, batch);
  }

 private:
  /// The attention half of layer i.
  void mix_tokens(std::size_t i, const Batch& batch, const Activations<T>& a) {
    const LayerWeights<T>& layer = weights_.layers[i];
    Kernels::matmul(exec_, flat(a.query), a.normed, layer.query);
    Kernels::matmul(exec_, flat(a.key), a.normed, layer.key);
    Kernels::matmul(exec_, flat(a.value), a.normed, layer.value);
    invar::rope(exec_, a.query, a.query, batch.positions, frequencies_, invar::RopePairs::adjacent);
    invar::rope(exec_, a.key, a.key, batch.positions, frequencies_, invar::RopePairs::adjacent);
    store(exec_, keys_[i], a.key, batch);
    store(exec_, values_[i], a.value, batch);
    Kernels::attention(exec_, a.mixed, a.query, invar::PagedKv{keys_[i], values_[i], batch.page_table},
                       batch.query_begin, batch.kv_length);
    Kernels::matmul(exec_, a.update, flat(a.mixed), layer.attention_output);
  }

  void feed_forward(const LayerWeights<T>& layer, const Activations<T>& a) {
    Kernels::matmul(exec_, a.gate, a.normed, layer.gate);
    Kernels::matmul(exec_, a.up, a.normed, layer.up);
    invar::silu_mul(exec_, a.gate, a.gate, a.up);
    Kernels::matmul(exec_, a.update, a.gate, layer.down);
  }

  /// Ends a half layer: its update joins the residual stream, whose norm the next half reads.
  void add_update(const Activations<T>& a, const Vector& next_norm) {
    invar::rms_norm(exec_, a.normed, a.residual, a.residual, a.update, next_norm, config_.norm_epsilon);
  }

  std::vector<Prediction> predict(const Rows<T>& normed, const Batch& batch) {
    const std::size_t rows = batch.logit_rows.extent(0);
    const Rows<T> last("last", rows, config_.embedding);
    const Kokkos::View<std::int64_t*, Exec> best("best", rows);
    logits_ = Rows<float>("logits", rows, config_.vocabulary);
    invar::embedding(exec_, last, normed, batch.logit_rows);  // picks rows
    Kernels::matmul(exec_, logits_, last, weights_.output);
    invar::argmax(exec_, best, logits_);
    exec_.fence("serve::predict");
    std::vector<Prediction> predictions;
    for (std::size_t row = 0; row < rows; ++row)
      predictions.push_back({static_cast<Token>(best(row)), {&logits_(row, 0), config_.vocabulary}});
    return predictions;
  }

  ModelConfig config_;
  Weights<T> weights_;
  Vector frequencies_;
  std::vector<Pages<T>> keys_, values_;  // a layer each
  Rows<float> logits_;
  Exec exec_;
};

template <class T>
std::unique_ptr<Engine> make(const gguf::File& file, const ModelConfig& config, const ModelTensors& tensors,
                             KernelKind kernels) {
  if (kernels == KernelKind::variant) return std::make_unique<LlamaEngine<T, VariantKernels>>(file, config, tensors);
  return std::make_unique<LlamaEngine<T, InvariantKernels>>(file, config, tensors);
}

}  // namespace

std::unique_ptr<Engine> make_engine(const gguf::File& file, const ModelConfig& config, const ModelTensors& tensors,
                                    KernelKind kernels, Precision precision) {
  return precision == Precision::bf16 ? make<invar::bfloat16_t>(file, config, tensors, kernels)
                                      : make<float>(file, config, tensors, kernels);
}

}  // namespace serve
