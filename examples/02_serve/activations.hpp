// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What a step computes.
#ifndef SERVE_ACTIVATIONS_HPP
#define SERVE_ACTIVATIONS_HPP

#include "model_config.hpp"
#include "views.hpp"

#include <cstddef>
#include <cstdint>

namespace serve {

/// The state of each token: a row a token.
template <class T, class Exec>
struct Activations {
  Rows<T, Exec> residual;  ///< the residual stream
  Rows<T, Exec> normed;    ///< its norm, which the next half layer reads
  Rows<T, Exec> update;    ///< what a half layer adds to it
  Heads<T, Exec> query, key, value;
  Heads<T, Exec> mixed;  ///< values as attention mixes them
  Rows<T, Exec> gate, up;

  static Activations allocate(const ModelConfig& config, std::size_t tokens) {
    const auto rows = [&](const char* label, std::size_t width) {
      return Rows<T, Exec>(uninitialized(label), tokens, width);
    };
    const auto heads = [&](const char* label, std::size_t count) {
      return Heads<T, Exec>(uninitialized(label), tokens, count, config.head_size);
    };
    return {rows("residual", config.embedding), rows("normed", config.embedding),  rows("update", config.embedding),
            heads("query", config.heads),       heads("key", config.kv_heads),     heads("value", config.kv_heads),
            heads("mixed", config.heads),       rows("gate", config.feed_forward), rows("up", config.feed_forward)};
  }

  Activations first(std::size_t n) const {
    return {first_rows(residual, n), first_rows(normed, n), first_rows(update, n),
            first_rows(query, n),    first_rows(key, n),    first_rows(value, n),
            first_rows(mixed, n),    first_rows(gate, n),   first_rows(up, n)};
  }
};

/// What is computed for the tokens whose logits are wanted.
template <class T, class Exec>
struct Outputs {
  Rows<T, Exec> last;  ///< the last layer's result
  Staged<Rows<float, Exec>> logits;
  Staged<List<std::int64_t, Exec>> best;  ///< the most probable token

  static Outputs allocate(const ModelConfig& config, std::size_t rows) {
    return {Rows<T, Exec>(uninitialized("last"), rows, config.embedding),
            Staged(Rows<float, Exec>(uninitialized("logits"), rows, config.vocabulary)),
            Staged(List<std::int64_t, Exec>(uninitialized("best"), rows))};
  }

  Outputs first(std::size_t n) const { return {first_rows(last, n), logits.first(n), best.first(n)}; }
};

}  // namespace serve

#endif
