// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// A model's weights in views, as the matrix products want them.
#ifndef SERVE_WEIGHTS_HPP
#define SERVE_WEIGHTS_HPP

#include "model_config.hpp"

#include <invar/packed_matrix.hpp>

#include <Kokkos_Core.hpp>

#include <utility>
#include <vector>

namespace serve {

using HostExec = Kokkos::DefaultHostExecutionSpace;

/// A matrix as [inputs, outputs], so that a product with one row reads it from front to back.
template <class W, class Exec>
using Matrix = Kokkos::View<W**, Kokkos::LayoutRight, Exec>;
template <class Exec>
using Vector = Kokkos::View<float*, Exec>;

/// \tparam Product  the matrices that products read
template <class Product, class Exec>
struct LayerWeights {
  Vector<Exec> attention_norm;     ///< [embedding]
  Product query, key, value;       ///< [embedding, query_width or kv_width]
  Product attention_output;        ///< [query_width, embedding]
  Vector<Exec> feed_forward_norm;  ///< [embedding]
  Product gate, up;                ///< [embedding, feed_forward]
  Product down;                    ///< [feed_forward, embedding]
};

/// W is float or invar::bfloat16_t. A tied output projection is kept a second time, in the order that a product reads.
template <class W, class Product, class Exec>
struct WeightsOf {
  Matrix<W, Exec> embedding;  ///< [vocabulary, embedding], a row a token
  std::vector<LayerWeights<Product, Exec>> layers;
  Vector<Exec> output_norm;  ///< [embedding]
  Product output;            ///< [embedding, vocabulary]
};

/// As they are read from a file.
template <class W>
using LoadedWeights = WeightsOf<W, Matrix<W, HostExec>, HostExec>;

/// Reads and converts all weights; to bf16 with one rounding. Throws gguf::Error where a tensor cannot be read.
template <class W>
LoadedWeights<W> load_weights(const gguf::File& file, const ModelTensors& tensors);

/// True where products run on the host, which reads packed matrices best.
template <class Exec>
inline constexpr bool packs_weights = Kokkos::SpaceAccessibility<Exec, Kokkos::HostSpace>::accessible;

/// A matrix as products on Exec read it.
template <class W, class Exec, bool packed = packs_weights<Exec>>
struct ProductMatrix {
  using type = Matrix<W, Exec>;
};
template <class W, class Exec>
struct ProductMatrix<W, Exec, true> {
  using type = invar::PackedMatrix<W>;
};

template <class W, class Exec>
using Weights = WeightsOf<W, typename ProductMatrix<W, Exec>::type, Exec>;

/// A view's contents in the memory of Exec: the view itself where it lies there.
template <class Exec, class View>
auto in_memory_of(const View& view) {
  return Kokkos::create_mirror_view_and_copy(typename Exec::memory_space(), view);
}

/// A matrix as products on Exec read it; the loaded one is given up, so that a host never holds all weights twice.
template <class Exec, class W>
auto for_products_on(Matrix<W, HostExec>& loaded) {
  const auto matrix = std::exchange(loaded, {});
  if constexpr (packs_weights<Exec>) {
    const auto packed = invar::pack(HostExec(), matrix);
    HostExec().fence("serve::pack");
    return packed;
  } else {
    return in_memory_of<Exec>(matrix);
  }
}

/// All weights as they are used on Exec.
template <class Exec, class W>
Weights<W, Exec> weights_on(LoadedWeights<W> loaded) {
  const auto product = [](Matrix<W, HostExec>& m) { return for_products_on<Exec>(m); };
  Weights<W, Exec> weights;
  weights.embedding = in_memory_of<Exec>(loaded.embedding);
  for (LayerWeights<Matrix<W, HostExec>, HostExec>& layer : loaded.layers)
    weights.layers.push_back({in_memory_of<Exec>(layer.attention_norm), product(layer.query), product(layer.key),
                              product(layer.value), product(layer.attention_output),
                              in_memory_of<Exec>(layer.feed_forward_norm), product(layer.gate), product(layer.up),
                              product(layer.down)});
  weights.output_norm = in_memory_of<Exec>(loaded.output_norm);
  weights.output = product(loaded.output);
  return weights;
}

}  // namespace serve

#endif
