// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// One split of attention with query rows in the lanes of vectors: every lane takes the contract's steps for a row of
/// its own, and keys and values are broadcast straight from the cache.
#ifndef INVAR_BACKENDS_HOST_ATTENTION_ROWS_HPP
#define INVAR_BACKENDS_HOST_ATTENTION_ROWS_HPP

#include <invar/backends/host/attention_cache.hpp>
#include <invar/backends/host/attention_vector.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace invar::backends::host::attention {

/// What a split's kernel reads and writes, apart from the cache.
template <class T>
struct Split {
  std::int64_t begin, end;      ///< positions
  const std::int64_t* visible;  ///< positions that each row sees
  int rows;                     ///< in use
  int heads;                    ///< KV heads; of more than one, each has as many rows, which see the same positions
  int head_dim, value_dim;
  T scale;
  const T* query;
  T* score;   ///< a block's scores
  T* buffer;  ///< for rows of the cache
  T* spare;   ///< room for 4 vectors of outputs that nobody wants
  T* result;  ///< maxima, sums, outputs
};

/// Rows as lanes of Vectors vectors. Query: [head_dim, rows]; scores: [position, rows]; result: [rows] maxima, [rows]
/// sums, [value_dim, rows] outputs.
template <class Contract, class T, int Vectors>
class RowLanes {
 public:
  static constexpr int lanes = Vector<T>::lanes;
  static constexpr int rows = Vectors * lanes;

  /// Steps 1 to 5 of the contract.
  template <class Key, class Value>
  [[gnu::noinline]] static void split(const Split<T>& s, const Key& key, const Value& value) {
    RowLanes state;
    for (int v = 0; v < Vectors; ++v) {
      state.max_[v] = V::fill(T(-HUGE_VALF));
      for (auto& sum : state.sum_) sum[v] = V::fill(T(0));
    }
    for (int i = 0; i < s.value_dim * Vectors; ++i) V::fill(T(0)).store(s.result + 2 * rows + i * lanes);
    for (std::int64_t block = s.begin; block < s.end; block += Contract::block) state.advance(s, block, key, value);
    state.end(s.result);
  }

  /// Step 6, for the rows that see more than `from` positions.
  static void fold(T* total, const T* split, const std::int64_t* visible, std::int64_t from, int value_dim) {
    int sees[rows];
    for (int r = 0; r < rows; ++r) sees[r] = visible[r] > from;
    for (int v = 0; v < Vectors; ++v) {
      T* const to = total + v * lanes;
      const T* const later = split + v * lanes;
      const Mask<T> folded = Mask<T>::above(sees + v * lanes, 0);
      const V max = V::load(to), later_max = V::load(later);
      const V next = max_of_numbers(max, later_max);
      const V shift = finite_lanes(next);
      const V a = power_of_two(difference(max, shift)), a_later = power_of_two(difference(later_max, shift));
      folded.select(next, max).store(to);
      for (int i = rows; i < rows * (2 + value_dim); i += rows) {
        const V old = V::load(to + i);
        folded.select(fma(V::load(later + i), a_later, product(old, a)), old).store(to + i);
      }
    }
  }

  /// Step 7: calls write(row, d, n, values) with n outputs of a row from d on.
  template <class Write>
  static void finish(const T* total, int count, int value_dim, const Write& write) {
    for (int v = 0; v * lanes < count; ++v) {
      const V factor = reciprocal_lanes(V::load(total + rows + v * lanes));
      for (int d = 0; d < value_dim; d += lanes) {
        const int here = std::min(lanes, value_dim - d);
        V block[lanes];
        for (int i = 0; i < lanes; ++i)
          block[i] = i < here ? product(V::load(total + rows * (2 + d + i) + v * lanes), factor) : factor;
        V::transpose(block);
        for (int l = 0; l < lanes && v * lanes + l < count; ++l) {
          T values[lanes];
          block[l].store(values);
          write(v * lanes + l, d, here, values);
        }
      }
    }
  }

 private:
  using V = Vector<T>;
  static constexpr int parts = Contract::block / 32;
  /// Chains that are advanced together for each of the vectors.
  static constexpr int together = Vectors * 8 < V::registers ? 8 : 4;

  template <class Key, class Value>
  void advance(const Split<T>& s, std::int64_t block, const Key& key, const Value& value) {
    int here[rows];
    int low = Contract::block, high = 0;  // what all rows see of the block, and what any does
    for (int r = 0; r < rows; ++r) {
      const std::int64_t left = s.visible[r] - block;
      here[r] = static_cast<int>(left < 0 ? 0 : (left < Contract::block ? left : Contract::block));
      low = std::min(low, here[r]);
      high = std::max(high, here[r]);
    }
    const T* copies[piece<Contract>];
    Rows<typename Key::element, piece<Contract>> keys;
    for (int p = 0; p < high; p += piece<Contract>) {
      key.locate(keys, block + p, std::min(piece<Contract>, high - p));
      scores(s, p, dense_rows(s.buffer, keys, copies), keys.count);
    }
    V alpha[Vectors];
    Mask<T> sees[Vectors];
    for (int v = 0; v < Vectors; ++v) {
      sees[v] = Mask<T>::above(here + v * lanes, 0);
      alpha[v] = probabilities(v, s.score + v * lanes, here + v * lanes, low, high, sees[v], s.scale);
    }
    Rows<typename Value::element, piece<Contract>> values;
    for (int p = 0; p < high; p += piece<Contract>) {
      value.locate(values, block + p, std::min(piece<Contract>, high - p));
      const T* const* const at = dense_rows(s.buffer, values, copies);
      const int full = std::max(0, std::min(values.count, low - p));
      int d = 0;
      for (; d + together <= s.value_dim; d += together)
        outputs<together>(s, p, d, at, full, values.count, here, alpha, sees);
      for (; d < s.value_dim; ++d) outputs<1>(s, p, d, at, full, values.count, here, alpha, sees);
    }
  }

  /// Step 1. What stands behind `count` up to a multiple of `together` is no score of anything.
  static void scores(const Split<T>& s, int first, const T* const* keys, int count) {
    for (int j = 0; j < count; j += together) {
      const T* key[together];
      for (int i = 0; i < together; ++i) key[i] = keys[std::min(j + i, count - 1)];
      V chain[together][Vectors];
      INVAR_UNROLL_VECTORS
      for (int i = 0; i < together; ++i) INVAR_UNROLL_VECTORS
      for (int v = 0; v < Vectors; ++v) chain[i][v] = V::fill(T(0));
      for (int d = 0; d < s.head_dim; ++d) {
        V query[Vectors];
        INVAR_UNROLL_VECTORS
        for (int v = 0; v < Vectors; ++v) query[v] = V::load(s.query + d * rows + v * lanes);
        INVAR_UNROLL_VECTORS
        for (int i = 0; i < together; ++i) {
          const V element = V::fill(key[i][d]);
          INVAR_UNROLL_VECTORS
          for (int v = 0; v < Vectors; ++v) chain[i][v] = fma(query[v], element, chain[i][v]);
        }
      }
      INVAR_UNROLL_VECTORS
      for (int i = 0; i < together; ++i) INVAR_UNROLL_VECTORS
      for (int v = 0; v < Vectors; ++v) chain[i][v].store(s.score + (first + j + i) * rows + v * lanes);
    }
  }

  /// Steps 2 and 3: scores into probabilities in place; returns alpha. A row that sees nothing of the block keeps its
  /// state.
  ///
  /// The maximum may pass over a NaN, and take either zero: a NaN score makes its own probability NaN, and with it the
  /// sum and every output; and a shift of −0 gives the probabilities that +0 does.
  V probabilities(int v, T* score, const int* here, int low, int high, Mask<T> sees, T scale_of_scores) {
    const V scale = V::fill(scale_of_scores);
    V highest = V::fill(T(-HUGE_VALF));
    for (int j = 0; j < low; ++j) highest = max_of_numbers(highest, V::load(score + j * rows));
    for (int j = low; j < high; ++j)
      highest = Mask<T>::above(here, j).select(max_of_numbers(highest, V::load(score + j * rows)), highest);
    const V next = sees.select(max_of_numbers(max_[v], product(scale, highest)), max_[v]);
    const V shift = finite_lanes(next);
    const V alpha = power_of_two(difference(max_[v], shift));
    const V minus_shift = negated(shift);
    max_[v] = next;
    for (int u = 0; u < parts; ++u) {
      V chain[8];
      INVAR_UNROLL_VECTORS
      for (int i = 0; i < 8; ++i) chain[i] = V::fill(T(-0.0));
      for (int j = 32 * u; j < 32 * u + 32 && j < high; j += 8) {
        if (j + 8 <= low) {
          INVAR_UNROLL_VECTORS
          for (int i = 0; i < 8; ++i) {
            const V p = power_of_two(fma(scale, V::load(score + (j + i) * rows), minus_shift));
            p.store(score + (j + i) * rows);
            chain[i] = add(chain[i], p);
          }
        } else {
          INVAR_UNROLL_VECTORS
          for (int i = 0; i < 8; ++i) {
            const V p = power_of_two(fma(scale, V::load(score + (j + i) * rows), minus_shift));
            p.store(score + (j + i) * rows);
            chain[i] = Mask<T>::above(here, j + i).select(add(chain[i], p), chain[i]);
          }
        }
      }
      INVAR_UNROLL_VECTORS
      for (int t = 0; t < 4; ++t) {
        V& sum = sum_[4 * u + t][v];
        sum = sees.select(fma(sum, alpha, add(chain[2 * t], chain[2 * t + 1])), sum);
      }
    }
    return alpha;
  }

  /// Step 4 for Width elements from d on: all rows see the first `full` of `count` positions.
  template <int Width>
  static void outputs(const Split<T>& s, int first, int d, const T* const* values, int full, int count, const int* here,
                      const V* alpha, const Mask<T>* sees) {
    T* const out = s.result + rows * (2 + d);
    V chain[Width][Vectors];
    INVAR_UNROLL_VECTORS
    for (int i = 0; i < Width; ++i) INVAR_UNROLL_VECTORS
    for (int v = 0; v < Vectors; ++v) {
      const V old = V::load(out + i * rows + v * lanes);
      chain[i][v] = first == 0 ? sees[v].select(product(old, alpha[v]), old) : old;
    }
    const T* p = s.score + first * rows;
    for (int j = 0; j < full; ++j, p += rows) {
      V probability[Vectors];
      INVAR_UNROLL_VECTORS
      for (int v = 0; v < Vectors; ++v) probability[v] = V::load(p + v * lanes);
      const T* const value = values[j] + d;
      INVAR_UNROLL_VECTORS
      for (int i = 0; i < Width; ++i) {
        const V element = V::fill(value[i]);
        INVAR_UNROLL_VECTORS
        for (int v = 0; v < Vectors; ++v) chain[i][v] = fma(probability[v], element, chain[i][v]);
      }
    }
    for (int j = full; j < count; ++j, p += rows) {
      const T* const value = values[j] + d;
      INVAR_UNROLL_VECTORS
      for (int v = 0; v < Vectors; ++v) {
        const Mask<T> seen = Mask<T>::above(here + v * lanes, first + j);
        const V probability = V::load(p + v * lanes);
        INVAR_UNROLL_VECTORS
        for (int i = 0; i < Width; ++i)
          chain[i][v] = seen.select(fma(probability, V::fill(value[i]), chain[i][v]), chain[i][v]);
      }
    }
    INVAR_UNROLL_VECTORS
    for (int i = 0; i < Width; ++i) INVAR_UNROLL_VECTORS
    for (int v = 0; v < Vectors; ++v) chain[i][v].store(out + i * rows + v * lanes);
  }

  /// Step 5.
  void end(T* result) const {
    for (int v = 0; v < Vectors; ++v) {
      V part[parts];
      for (int u = 0; u < parts; ++u)
        part[u] = add(add(sum_[4 * u][v], sum_[4 * u + 1][v]), add(sum_[4 * u + 2][v], sum_[4 * u + 3][v]));
      for (int stride = 1; stride < parts; stride *= 2)
        for (int u = 0; u + stride < parts; u += 2 * stride) part[u] = add(part[u], part[u + stride]);
      max_[v].store(result + v * lanes);
      part[0].store(result + rows + v * lanes);
    }
  }

  V max_[Vectors];
  V sum_[4 * parts][Vectors];
};

}  // namespace invar::backends::host::attention

#endif
