// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The engine against the textbook: the same model in double, a token at a time, with none of Invar's code.
#include "dequantize.hpp"
#include "random_llama.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

using serve::Token;

namespace {

using Numbers = std::vector<double>;

/// A llama model in double that keeps every key and value.
class Textbook {
 public:
  explicit Textbook(const serve_tests::Bytes& bytes)
      : file_(serve::gguf::File::parse(bytes, "random")),
        config_(serve::read_model_config(file_)),
        tensors_(serve::find_model_tensors(file_, config_)),
        keys_(config_.layers),
        values_(config_.layers) {}

  /// The logits behind the next token of the sequence.
  Numbers next(Token token) {
    Numbers x = numbers(*tensors_.token_embedding);
    x = Numbers(x.begin() + static_cast<std::ptrdiff_t>(token * config_.embedding),
                x.begin() + static_cast<std::ptrdiff_t>((token + 1) * config_.embedding));
    for (std::size_t i = 0; i < config_.layers; ++i) {
      const serve::LayerTensors& layer = tensors_.layers[i];
      const Numbers a = norm(x, *layer.attention_norm);
      keys_[i].push_back(rotated(product(*layer.key, a), config_.kv_heads));
      values_[i].push_back(product(*layer.value, a));
      add(x, product(*layer.attention_output, attend(i, rotated(product(*layer.query, a), config_.heads))));
      const Numbers f = norm(x, *layer.feed_forward_norm);
      Numbers gate = product(*layer.gate, f);
      const Numbers up = product(*layer.up, f);
      for (std::size_t j = 0; j < gate.size(); ++j) gate[j] = gate[j] / (1 + std::exp(-gate[j])) * up[j];
      add(x, product(*layer.down, gate));
    }
    ++position_;
    return product(*tensors_.output, norm(x, *tensors_.output_norm));
  }

 private:
  Numbers numbers(const serve::gguf::Tensor& tensor) const {
    std::vector<float> values(tensor.elements);
    serve::dequantize(file_, tensor, 0, values);
    return Numbers(values.begin(), values.end());
  }

  Numbers product(const serve::gguf::Tensor& tensor, const Numbers& x) const {
    const Numbers weights = numbers(tensor);
    Numbers y(weights.size() / x.size());
    for (std::size_t r = 0; r < y.size(); ++r)
      for (std::size_t c = 0; c < x.size(); ++c) y[r] += weights[r * x.size() + c] * x[c];
    return y;
  }

  static void add(Numbers& x, const Numbers& y) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += y[i];
  }

  Numbers norm(const Numbers& x, const serve::gguf::Tensor& weight) const {
    double squares = 0;
    for (const double value : x) squares += value * value;
    const double factor = 1 / std::sqrt(squares / static_cast<double>(x.size()) + config_.norm_epsilon);
    Numbers y = numbers(weight);
    for (std::size_t i = 0; i < x.size(); ++i) y[i] *= x[i] * factor;
    return y;
  }

  Numbers rotated(Numbers x, std::size_t heads) const {
    const auto size = static_cast<double>(config_.rope_size);
    for (std::size_t h = 0; h < heads; ++h)
      for (std::size_t i = 0; i < config_.rope_size; i += 2) {
        double& a = x[h * config_.head_size + i];
        double& b = x[h * config_.head_size + i + 1];
        const double angle = position_ * std::pow(config_.rope_base, -static_cast<double>(i) / size);
        const double before = a;
        a = before * std::cos(angle) - b * std::sin(angle);
        b = before * std::sin(angle) + b * std::cos(angle);
      }
    return x;
  }

  Numbers attend(std::size_t layer, const Numbers& query) const {
    const std::size_t size = config_.head_size;
    Numbers mixed(query.size());
    for (std::size_t h = 0; h < config_.heads; ++h) {
      const std::size_t kv = h / (config_.heads / config_.kv_heads) * size;
      double sum = 0;
      for (std::size_t p = 0; p < keys_[layer].size(); ++p) {
        double score = 0;
        for (std::size_t d = 0; d < size; ++d) score += query[h * size + d] * keys_[layer][p][kv + d];
        const double weight = std::exp(score / std::sqrt(static_cast<double>(size)));
        sum += weight;
        for (std::size_t d = 0; d < size; ++d) mixed[h * size + d] += weight * values_[layer][p][kv + d];
      }
      for (std::size_t d = 0; d < size; ++d) mixed[h * size + d] /= sum;
    }
    return mixed;
  }

  serve::gguf::File file_;
  serve::ModelConfig config_;
  serve::ModelTensors tensors_;
  std::vector<std::vector<Numbers>> keys_, values_;  // by layer and position
  double position_ = 0;
};

/// |found − expected| / |expected|
double relative_error(std::span<const float> found, const Numbers& expected) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    difference += std::pow(found[i] - expected[i], 2);
    size += std::pow(expected[i], 2);
  }
  return std::sqrt(difference / size);
}

}  // namespace

TEST_CASE("the forward pass computes a llama model") {
  const serve_tests::Bytes bytes = serve_tests::random_llama(2, 5);
  serve::Random random(6);
  const std::vector<Token> tokens = serve_tests::random_prompt(40, random);
  const std::vector<int> pages{3, 0, 2, 1};
  for (const auto kernels : {serve::KernelKind::invariant, serve::KernelKind::variant}) {
    const auto engine = serve_tests::load_engine(bytes, {kernels, serve::Precision::f32});
    engine->set_cache({4, 16, 4});
    Textbook textbook(bytes);
    double worst = 0;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const serve::Slice slice{std::span(tokens).subspan(i, 1), i, pages, true};
      const serve::Prediction prediction = engine->step(std::span(&slice, 1)).front();
      worst = std::max(worst, relative_error(prediction.logits, textbook.next(tokens[i])));
    }
    CAPTURE(worst);
    CHECK(worst < 1e-5);
    CHECK(worst > 0);
  }
}
