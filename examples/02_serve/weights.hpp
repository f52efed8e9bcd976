// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// A model's weights in views, as the matrix products want them.
#ifndef SERVE_WEIGHTS_HPP
#define SERVE_WEIGHTS_HPP

#include "model_config.hpp"

#include <Kokkos_Core.hpp>
#include <vector>

namespace serve {

using HostExec = Kokkos::DefaultHostExecutionSpace;

/// A matrix as [inputs, outputs], so that a product with one row reads it from front to back.
template <class W, class Exec>
using Matrix = Kokkos::View<W**, Kokkos::LayoutRight, Exec>;
template <class Exec>
using Vector = Kokkos::View<float*, Exec>;

template <class W, class Exec>
struct LayerWeights {
  Vector<Exec> attention_norm;        ///< [embedding]
  Matrix<W, Exec> query, key, value;  ///< [embedding, query_width or kv_width]
  Matrix<W, Exec> attention_output;   ///< [query_width, embedding]
  Vector<Exec> feed_forward_norm;     ///< [embedding]
  Matrix<W, Exec> gate, up;           ///< [embedding, feed_forward]
  Matrix<W, Exec> down;               ///< [feed_forward, embedding]
};

/// W is float or invar::bfloat16_t. A tied output projection is kept a second time, in the order that a product reads.
template <class W, class Exec>
struct Weights {
  Matrix<W, Exec> embedding;  ///< [vocabulary, embedding], a row a token
  std::vector<LayerWeights<W, Exec>> layers;
  Vector<Exec> output_norm;  ///< [embedding]
  Matrix<W, Exec> output;    ///< [embedding, vocabulary]
};

/// Reads and converts all weights; to bf16 with one rounding. Throws gguf::Error where a tensor cannot be read.
template <class W>
Weights<W, HostExec> load_weights(const gguf::File& file, const ModelTensors& tensors);

/// A view's contents in the memory of Exec: the view itself where it lies there.
template <class Exec, class View>
auto in_memory_of(const View& view) {
  return Kokkos::create_mirror_view_and_copy(typename Exec::memory_space(), view);
}

/// All weights in the memory of Exec.
template <class Exec, class W>
Weights<W, Exec> in_memory_of(const Weights<W, HostExec>& host) {
  Weights<W, Exec> weights;
  weights.embedding = in_memory_of<Exec>(host.embedding);
  for (const LayerWeights<W, HostExec>& layer : host.layers)
    weights.layers.push_back({in_memory_of<Exec>(layer.attention_norm), in_memory_of<Exec>(layer.query),
                              in_memory_of<Exec>(layer.key), in_memory_of<Exec>(layer.value),
                              in_memory_of<Exec>(layer.attention_output), in_memory_of<Exec>(layer.feed_forward_norm),
                              in_memory_of<Exec>(layer.gate), in_memory_of<Exec>(layer.up),
                              in_memory_of<Exec>(layer.down)});
  weights.output_norm = in_memory_of<Exec>(host.output_norm);
  weights.output = in_memory_of<Exec>(host.output);
  return weights;
}

}  // namespace serve

#endif
