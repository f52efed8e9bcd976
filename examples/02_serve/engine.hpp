// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The forward pass of a llama model over a batch of sequences that share a paged KV cache.
#ifndef SERVE_ENGINE_HPP
#define SERVE_ENGINE_HPP

#include "model_config.hpp"
#include "vocabulary.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace serve {

/// What one sequence contributes to a step: the tokens at its next positions, at least one.
struct Slice {
  std::span<const Token> tokens;
  std::size_t first_position;  ///< of tokens[0]; earlier positions are in the cache
  std::span<const int> pages;  ///< of the cache, in the order of the sequence; enough for all tokens
  bool wants_logits;           ///< of the last token
};

/// The next token after a slice, and what it was chosen from.
struct Prediction {
  Token token;                    ///< the most probable one; the lowest id where several are
  std::span<const float> logits;  ///< valid until the next step
};

/// Which order the sums have: see InvariantKernels and VariantKernels.
enum class KernelKind { invariant, variant };

/// What weights, activations and the cache are kept in: with bf16 every result is rounded to it, as servers usually run
/// a model. Sums are float in both, and so are the logits.
enum class Precision { f32, bf16 };

/// Where everything is computed: see device.hpp.
enum class Device { cpu, cuda };

/// What an engine is made for.
struct EngineOptions {
  KernelKind kernels = KernelKind::invariant;
  Precision precision = Precision::f32;
  Device device = Device::cpu;
  bool graph = true;  ///< on a GPU, record a decode step once and replay it; no bit depends on it
};

/// The shape of a KV cache.
struct CacheShape {
  std::size_t pages;
  std::size_t page_size;       ///< positions in a page
  std::size_t sequence_pages;  ///< that one sequence can have
};

class Engine {
 public:
  virtual ~Engine() = default;

  /// Forgets the cache and lays it out anew. Comes before the first step.
  virtual void set_cache(const CacheShape& shape) = 0;

  /// Computes all slices in one batch; returns a prediction for each slice that wants one, in their order.
  virtual std::vector<Prediction> step(std::span<const Slice> slices) = 0;
};

/// An engine with its own copy of the weights; nothing refers to the file later. Kokkos must be initialized. Throws
/// std::runtime_error where the device cannot be used.
std::unique_ptr<Engine> make_engine(const gguf::File& file, const ModelConfig& config, const ModelTensors& tensors,
                                    const EngineOptions& options);

}  // namespace serve

#endif
