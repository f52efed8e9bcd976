// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "weights.hpp"

#include "dequantize.hpp"

#include <invar/num/types.hpp>

#include <algorithm>
#include <string>

namespace serve {
namespace {

/// Rows of the file that are converted together: enough for a transposing loop to write whole cache lines.
constexpr int rows_at_once = 32;

/// Calls put(row, column, value) for every element of a [rows, columns] tensor, many rows at a time on all threads.
template <class Put>
void for_each_weight(const gguf::File& file, const gguf::Tensor& tensor, const Put& put) {
  require_dequantizable(file, tensor);
  const auto columns = static_cast<std::size_t>(tensor.shape[0]);
  const auto rows = static_cast<std::size_t>(tensor.elements) / columns;
  const std::size_t bytes_per_row = tensor.bytes.size() / rows;
  const int blocks = static_cast<int>((rows + rows_at_once - 1) / rows_at_once);
  Kokkos::parallel_for("serve::load_weights", Kokkos::RangePolicy<HostExec>(0, blocks), [&](int block) {
    const std::size_t first = static_cast<std::size_t>(block) * rows_at_once;
    const std::size_t count = std::min<std::size_t>(rows_at_once, rows - first);
    std::vector<float> values(count * columns);
    dequantize(tensor.type, tensor.bytes.subspan(first * bytes_per_row, count * bytes_per_row), values);
    for (std::size_t c = 0; c < columns; ++c)
      for (std::size_t r = 0; r < count; ++r) put(first + r, c, values[r * columns + c]);
  });
  HostExec().fence("serve::load_weights");
}

template <class T>
Kokkos::ViewAllocateWithoutInitializing allocation(const T& tensor) {
  return Kokkos::ViewAllocateWithoutInitializing(std::string(tensor.name));
}

Vector<HostExec> load_vector(const gguf::File& file, const gguf::Tensor& tensor) {
  const Vector<HostExec> v(allocation(tensor), tensor.elements);
  for_each_weight(file, tensor, [&](std::size_t, std::size_t c, float value) { v(c) = value; });
  return v;
}

template <class W>
Matrix<W, HostExec> load_transposed(const gguf::File& file, const gguf::Tensor& tensor) {
  const Matrix<W, HostExec> m(allocation(tensor), tensor.shape[0], tensor.shape[1]);
  for_each_weight(file, tensor,
                  [&](std::size_t r, std::size_t c, float value) { m(c, r) = invar::num::narrow<W>(value); });
  return m;
}

template <class W>
Matrix<W, HostExec> load_rows(const gguf::File& file, const gguf::Tensor& tensor) {
  const Matrix<W, HostExec> m(allocation(tensor), tensor.shape[1], tensor.shape[0]);
  for_each_weight(file, tensor,
                  [&](std::size_t r, std::size_t c, float value) { m(r, c) = invar::num::narrow<W>(value); });
  return m;
}

}  // namespace

template <class W>
LoadedWeights<W> load_weights(const gguf::File& file, const ModelTensors& tensors) {
  LoadedWeights<W> weights;
  weights.embedding = load_rows<W>(file, *tensors.token_embedding);
  for (const LayerTensors& t : tensors.layers)
    weights.layers.push_back({load_vector(file, *t.attention_norm), load_transposed<W>(file, *t.query),
                              load_transposed<W>(file, *t.key), load_transposed<W>(file, *t.value),
                              load_transposed<W>(file, *t.attention_output), load_vector(file, *t.feed_forward_norm),
                              load_transposed<W>(file, *t.gate), load_transposed<W>(file, *t.up),
                              load_transposed<W>(file, *t.down)});
  weights.output_norm = load_vector(file, *tensors.output_norm);
  weights.output = load_transposed<W>(file, *tensors.output);
  return weights;
}

template LoadedWeights<float> load_weights(const gguf::File&, const ModelTensors&);
template LoadedWeights<invar::bfloat16_t> load_weights(const gguf::File&, const ModelTensors&);

}  // namespace serve
