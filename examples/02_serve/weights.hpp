// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// A model's weights in views, as the matrix products want them.
#ifndef SERVE_WEIGHTS_HPP
#define SERVE_WEIGHTS_HPP

#include "model_config.hpp"

#include <Kokkos_Core.hpp>
#include <vector>

namespace serve {

using Exec = Kokkos::DefaultHostExecutionSpace;

/// A matrix as [inputs, outputs], so that a product with one row reads it from front to back.
template <class W>
using Matrix = Kokkos::View<W**, Kokkos::LayoutRight, Exec>;
using Vector = Kokkos::View<float*, Exec>;

template <class W>
struct LayerWeights {
  Vector attention_norm;        ///< [embedding]
  Matrix<W> query, key, value;  ///< [embedding, query_width or kv_width]
  Matrix<W> attention_output;   ///< [query_width, embedding]
  Vector feed_forward_norm;     ///< [embedding]
  Matrix<W> gate, up;           ///< [embedding, feed_forward]
  Matrix<W> down;               ///< [feed_forward, embedding]
};

/// W is float or invar::bfloat16_t. A tied output projection is kept a second time, in the order that a product reads.
template <class W>
struct Weights {
  Matrix<W> embedding;  ///< [vocabulary, embedding], a row a token
  std::vector<LayerWeights<W>> layers;
  Vector output_norm;  ///< [embedding]
  Matrix<W> output;    ///< [embedding, vocabulary]
};

/// Reads and converts all weights; to bf16 with one rounding. Throws gguf::Error where a tensor cannot be read.
template <class W>
Weights<W> load_weights(const gguf::File& file, const ModelTensors& tensors);

}  // namespace serve

#endif
