// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// One split of attention for a few query rows, as a decode step has them: with neighbouring positions in the lanes of
/// vectors for the scores, and elements of a value for the outputs, so that keys and values pass by once, at the speed
/// of memory.
#ifndef INVAR_BACKENDS_HOST_ATTENTION_KEYS_HPP
#define INVAR_BACKENDS_HOST_ATTENTION_KEYS_HPP

#include <invar/backends/host/attention_rows.hpp>
#include <invar/tree/online_softmax.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace invar::backends::host::attention {

/// Rows one after another. Query: [rows, head_dim]; scores: [rows, block]; result: [max_rows] maxima, [max_rows] sums,
/// [max_rows, padded value_dim] outputs.
template <class Contract, class T>
class KeyLanes {
 public:
  static constexpr int lanes = Vector<T>::lanes;
  static constexpr int max_rows = 8;

  /// Steps 1 to 5 of the contract.
  template <class Key, class Value>
  [[gnu::noinline]] static void split(const Split<T>& s, const Key& key, const Value& value) {
    KeyLanes state;
    for (int r = 0; r < s.rows; ++r) state.softmax_[r].begin();
    T* const out = s.result + 2 * max_rows;
    std::fill(out, out + max_rows * padded<T>(s.value_dim), T(0));
    if (s.begin < s.end) state.take_blocks(s, key, value);
    for (int r = 0; r < s.rows; ++r) {
      const auto sums = state.softmax_[r].end();
      s.result[r] = sums.max;
      s.result[max_rows + r] = sums.sum;
    }
  }

  /// Step 6, for the rows that see more than `from` positions.
  static void fold(T* total, const T* split, const std::int64_t* visible, int rows, std::int64_t from, int value_dim) {
    const int width = padded<T>(value_dim);
    for (int r = 0; r < rows; ++r) {
      if (visible[r] <= from) continue;
      const auto factors = tree::fold_sums(total[r], total[max_rows + r], split[r], split[max_rows + r]);
      const V a = V::fill(factors.total), a_split = V::fill(factors.split);
      T* const to = total + 2 * max_rows + r * width;
      const T* const later = split + 2 * max_rows + r * width;
      for (int d = 0; d < width; d += lanes)
        fma(V::load(later + d), a_split, product(V::load(to + d), a)).store(to + d);
    }
  }

  /// Step 7: calls write(row, d, n, values) with n outputs of a row from d on.
  template <class Write>
  static void finish(const T* total, int rows, int value_dim, const Write& write) {
    for (int r = 0; r < rows; ++r) {
      const V factor = V::fill(num::reciprocal_or_zero(total[max_rows + r]));
      const T* const out = total + 2 * max_rows + r * padded<T>(value_dim);
      for (int d = 0; d < value_dim; d += lanes) {
        T values[lanes];
        product(V::load(out + d), factor).store(values);
        write(r, d, std::min(lanes, value_dim - d), values);
      }
    }
  }

 private:
  using V = Vector<T>;

  /// What a block needs is asked for while the half block before it is at work: values during the scores, the next
  /// block's keys during the outputs. The processor's own prefetching cannot follow rows of one head among others.
  template <class Key, class Value>
  void take_blocks(const Split<T>& s, const Key& key, const Value& value) {
    Rows<typename Key::element, piece<Contract>> keys;
    Rows<typename Value::element, piece<Contract>> values;
    const auto count_from = [&](std::int64_t position) {
      return static_cast<int>(std::max<std::int64_t>(0, std::min<std::int64_t>(piece<Contract>, s.end - position)));
    };
    key.locate(keys, s.begin, count_from(s.begin));
    keys.touch();
    for (std::int64_t block = s.begin; block < s.end; block += Contract::block) {
      const std::int64_t end = std::min(s.end, block + Contract::block);
      int here[max_rows];
      for (int r = 0; r < s.rows; ++r)
        here[r] = static_cast<int>(std::max<std::int64_t>(0, std::min(s.visible[r], end) - block));
      value.locate(values, block, count_from(block));
      for (std::int64_t p = block; p < end; p += piece<Contract>) {
        if (p > block) key.locate(keys, p, count_from(p));
        keys.make_dense(s.buffer);
        scores(s, s.score + (p - block), keys.at, keys.count, values);
      }
      T alpha[max_rows];
      for (int r = 0; r < s.rows; ++r)
        if (here[r] > 0) alpha[r] = probabilities(r, s.score + r * Contract::block, here[r], s.scale);
      key.locate(keys, end, count_from(end));
      for (std::int64_t p = block; p < end; p += piece<Contract>) {
        if (p > block) value.locate(values, p, count_from(p));
        values.make_dense(s.buffer);
        const int first = static_cast<int>(p - block);
        if (s.rows == 1)
          all_outputs<1>(s, 0, first, values.at, here, alpha, keys);
        else
          for (int r = 0; r < s.rows; r += 4) all_outputs<4>(s, r, first, values.at, here, alpha, keys);
      }
    }
  }

  /// Step 1: to score[r·block + j]. What stands behind `count` up to whole vectors is no score of anything. Keys come
  /// in groups of as many as there are lanes; between groups the elements go on in the outer loop, so that neighbouring
  /// chains are independent.
  template <class E, class Ahead>
  static void scores(const Split<T>& s, T* score, const E* const* keys, int count, const Ahead& ahead) {
    const auto chain_of = [&](int r, int j, int d) {
      return d == 0 ? V::fill(T(0)) : V::load(score + r * Contract::block + j);
    };
    const int steps = s.head_dim / lanes * ((count + lanes - 1) / lanes);
    int step = 0;
    const int whole = s.head_dim / lanes * lanes;
    for (int d = 0; d < whole; d += lanes)
      for (int j = 0; j < count; j += lanes) {
        ahead.prefetch_part(step++, steps);
        V element[lanes];
        INVAR_UNROLL_VECTORS
        for (int l = 0; l < lanes; ++l) element[l] = V::load(keys[std::min(j + l, count - 1)] + d);
        V::transpose(element);
        for (int r = 0; r < s.rows; ++r) {
          const T* const query = s.query + r * s.head_dim + d;
          V chain = chain_of(r, j, d);
          INVAR_UNROLL_VECTORS
          for (int i = 0; i < lanes; ++i) chain = fma(V::fill(query[i]), element[i], chain);
          chain.store(score + r * Contract::block + j);
        }
      }
    for (int d = whole; d < s.head_dim; ++d)
      for (int j = 0; j < count; j += lanes) {
        T column[lanes];
        for (int l = 0; l < lanes; ++l) column[l] = num::widen(keys[std::min(j + l, count - 1)][d]);
        for (int r = 0; r < s.rows; ++r)
          fma(V::fill(s.query[r * s.head_dim + d]), V::load(column), chain_of(r, j, d))
              .store(score + r * Contract::block + j);
      }
    if (s.head_dim == 0)
      for (int r = 0; r < s.rows; ++r)
        std::fill(score + r * Contract::block, score + r * Contract::block + count, T(0));
  }

  /// Steps 2 and 3 for row r, which sees the first `here` positions of the block: scores into probabilities in place;
  /// returns alpha. The maximum may pass over a NaN, as in RowLanes.
  T probabilities(int r, T* score, int here, T scale_of_scores) {
    V highest = V::fill(T(-HUGE_VALF));
    for (int j = 0; j < here; j += lanes)
      highest = Mask<T>::first(here - j).select(max_of_numbers(highest, V::load(score + j)), highest);
    const auto step = softmax_[r].advance(largest_lane(highest), scale_of_scores);
    const V scale = V::fill(scale_of_scores), minus_shift = V::fill(step.minus_shift);
    // −0 is the exact identity of addition: what is not visible changes no sum.
    const V nothing = V::fill(T(-0.0));
    for (int j = 0; j < Contract::block; j += lanes) {
      const V p = j < here ? power_of_two(fma(scale, V::load(score + j), minus_shift)) : nothing;
      Mask<T>::first(here - j).select(p, nothing).store(score + j);
    }
    softmax_[r].add(score, step.alpha);
    return step.alpha;
  }

  /// Step 4 for Rows rows from `row` on; those behind the last are made up, and not used.
  template <int Rows, class E, class Ahead>
  static void all_outputs(const Split<T>& s, int row, int first, const E* const* values, const int* here,
                          const T* alpha, const Ahead& ahead) {
    int d = 0;
    for (; d + 4 * lanes <= s.value_dim; d += 4 * lanes) outputs<Rows, 4>(s, row, first, d, values, here, alpha, ahead);
    for (; d + lanes <= s.value_dim; d += lanes) outputs<Rows, 1>(s, row, first, d, values, here, alpha, ahead);
    for (; d < s.value_dim; ++d)
      for (int r = row; r < s.rows && r < row + Rows; ++r) {
        T& out = s.result[2 * max_rows + r * padded<T>(s.value_dim) + d];
        if (first == 0 && here[r] > 0) out = num::mul_unfenced(out, alpha[r]);
        const T* const p = s.score + r * Contract::block + first;
        for (int j = 0; j < piece<Contract> && first + j < here[r]; ++j)
          out = num::fma(p[j], num::widen(values[j][d]), out);
      }
  }

  template <int Rows, int Vectors, class E, class Ahead>
  static void outputs(const Split<T>& s, int row, int first, int d, const E* const* values, const int* here,
                      const T* alpha, const Ahead& ahead) {
    T* out[Rows];
    const T* p[Rows];
    int sees[Rows];
    int low = piece<Contract>, high = 0;
    V chain[Rows][Vectors];
    INVAR_UNROLL_VECTORS
    for (int i = 0; i < Rows; ++i) {
      const int r = std::min(row + i, s.rows - 1);
      out[i] = s.result + 2 * max_rows + (row + i) * padded<T>(s.value_dim) + d;
      p[i] = s.score + r * Contract::block + first;
      sees[i] = std::max(0, std::min(piece<Contract>, here[r] - first));
      low = std::min(low, sees[i]);
      high = std::max(high, sees[i]);
      INVAR_UNROLL_VECTORS
      for (int v = 0; v < Vectors; ++v) {
        chain[i][v] = V::load(out[i] + v * lanes);
        if (first == 0 && here[r] > 0) chain[i][v] = product(chain[i][v], V::fill(alpha[r]));
      }
    }
    for (int j = 0; j < low; ++j) {
      if (row == 0 && d == 0) ahead.prefetch_part(j, piece<Contract>);
      V element[Vectors];
      INVAR_UNROLL_VECTORS
      for (int v = 0; v < Vectors; ++v) element[v] = V::load(values[j] + d + v * lanes);
      INVAR_UNROLL_VECTORS
      for (int i = 0; i < Rows; ++i) {
        const V probability = V::fill(p[i][j]);
        INVAR_UNROLL_VECTORS
        for (int v = 0; v < Vectors; ++v) chain[i][v] = fma(probability, element[v], chain[i][v]);
      }
    }
    for (int j = low; j < high; ++j) {
      INVAR_UNROLL_VECTORS
      for (int i = 0; i < Rows; ++i)
        if (j < sees[i]) INVAR_UNROLL_VECTORS
      for (int v = 0; v < Vectors; ++v)
        chain[i][v] = fma(V::fill(p[i][j]), V::load(values[j] + d + v * lanes), chain[i][v]);
    }
    INVAR_UNROLL_VECTORS
    for (int i = 0; i < Rows; ++i) INVAR_UNROLL_VECTORS
    for (int v = 0; v < Vectors; ++v) chain[i][v].store(out[i] + v * lanes);
  }

  tree::RowSoftmax<Contract, T> softmax_[max_rows];
};

}  // namespace invar::backends::host::attention

#endif
