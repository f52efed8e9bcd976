// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// One split of attention for a few query rows, as a decode step has them: with neighbouring positions in the lanes of
/// vectors for the scores, and elements of a value for the outputs, so that keys and values pass by once, at the speed
/// of memory.
#ifndef INVAR_BACKENDS_HOST_ATTENTION_KEYS_HPP
#define INVAR_BACKENDS_HOST_ATTENTION_KEYS_HPP

#include <invar/backends/host/attention_products.hpp>
#include <invar/backends/host/attention_rows.hpp>
#include <invar/tree/online_softmax.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace invar::backends::host::attention {

/// Rows one after another, those of a KV head together. Query: [heads, rows, head_dim]; scores: [heads, rows, block];
/// result: [heads, rows] maxima, [heads, rows] sums, [heads, rows, padded value_dim] outputs.
///
/// All heads go through a chunk of positions before the next one, so that memory is read in its order.
template <class Contract, class T>
class KeyLanes {
 public:
  static constexpr int lanes = Vector<T>::lanes;
  static constexpr int max_rows = 8;       ///< of a KV head
  static constexpr int max_all_rows = 64;  ///< of all KV heads
  /// Positions after which the next head has its turn.
  static constexpr int chunk = 32;

  /// Steps 1 to 5 of the contract.
  template <class Key, class Value>
  [[gnu::noinline]] static void split(const Split<T>& s, const Key& key, const Value& value) {
    KeyLanes state;
    const int all = s.heads * s.rows;
    for (int r = 0; r < all; ++r) state.softmax_[r].begin();
    std::fill_n(s.result + 2 * all, all * padded<T>(s.value_dim), T(0));
    if (s.begin < s.end) state.take_blocks(s, key, value);
    for (int r = 0; r < all; ++r) {
      const auto sums = state.softmax_[r].end();
      s.result[r] = sums.max;
      s.result[all + r] = sums.sum;
    }
  }

  /// Step 6, for the rows that see more than `from` positions.
  static void fold(T* total, const T* split, const std::int64_t* visible, int rows, int heads, std::int64_t from,
                   int value_dim) {
    const int width = padded<T>(value_dim), all = heads * rows;
    for (int r = 0; r < all; ++r) {
      if (visible[r % rows] <= from) continue;
      const auto factors = tree::fold_sums(total[r], total[all + r], split[r], split[all + r]);
      const V a = V::fill(factors.total), a_split = V::fill(factors.split);
      T* const to = total + 2 * all + r * width;
      const T* const later = split + 2 * all + r * width;
      for (int d = 0; d < width; d += lanes)
        fma(V::load(later + d), a_split, product(V::load(to + d), a)).store(to + d);
    }
  }

  /// Step 7: calls write(row, d, n, values) with n outputs of a row from d on; rows of all heads are numbered through.
  template <class Write>
  static void finish(const T* total, int all, int value_dim, const Write& write) {
    for (int r = 0; r < all; ++r) {
      const V factor = V::fill(num::reciprocal_or_zero(total[all + r]));
      const T* const out = total + 2 * all + r * padded<T>(value_dim);
      for (int d = 0; d < value_dim; d += lanes) {
        T values[lanes];
        product(V::load(out + d), factor).store(values);
        write(r, d, std::min(lanes, value_dim - d), values);
      }
    }
  }

 private:
  using V = Vector<T>;

  /// While a chunk is at work, the next one is asked for: keys after keys, then values, then the next block's keys.
  template <class Key, class Value>
  void take_blocks(const Split<T>& s, const Key& key, const Value& value) {
    Rows<typename Key::element, Contract::block> keys;
    Rows<typename Value::element, Contract::block> values;
    const auto count_from = [&](std::int64_t position) {
      return static_cast<int>(std::max<std::int64_t>(0, std::min<std::int64_t>(Contract::block, s.end - position)));
    };
    key.locate(keys, s.begin, count_from(s.begin));
    for (std::int64_t block = s.begin; block < s.end; block += Contract::block) {
      int here[max_rows];
      for (int r = 0; r < s.rows; ++r)
        here[r] =
            static_cast<int>(std::max<std::int64_t>(0, std::min<std::int64_t>(s.visible[r] - block, Contract::block)));
      value.locate(values, block, count_from(block));
      for (int p = 0; p < keys.count; p += chunk) {
        Prefetch ahead = p + chunk < keys.count ? Prefetch(keys, p + chunk, chunk) : Prefetch(values, 0, chunk);
        scores(s, keys, p, ahead);
      }
      T alpha[max_all_rows];
      for (int r = 0; r < s.heads * s.rows; ++r)
        if (here[r % s.rows] > 0) alpha[r] = probabilities(r, s.score + r * Contract::block, here[r % s.rows], s.scale);
      key.locate(keys, block + Contract::block, count_from(block + Contract::block));
      for (int p = 0; p < values.count; p += chunk) {
        Prefetch ahead = p + chunk < values.count ? Prefetch(values, p + chunk, chunk) : Prefetch(keys, 0, chunk);
        outputs(s, values, p, here, alpha, ahead);
      }
    }
  }

  /// A chunk's rows of one head, from `first` on: in the cache itself, or copied to `buffer` where elements are apart,
  /// or where `copy` asks for it.
  template <class E, int Most>
  static const E* const* rows_of_head(const E** copied, const Rows<E, Most>& rows, int first, int& offset, int dim,
                                      T* buffer, bool copy) {
    if (!copy) return rows.at + first;
    // A line more than a row, so that rows do not meet in the same places of the first-level cache.
    const int width = (dim + 15) / 16 * 16 + 16;
    E* to = reinterpret_cast<E*>(buffer);
    for (int i = 0; i < chunk; ++i, to += width) {
      copied[i] = to;
      if (first + i < rows.count)
        copy_row(to, rows.at[first + i] + offset, rows.stride, dim);
      else
        copied[i] = copied[0];
    }
    offset = 0;
    return copied;
  }

  /// Step 1: to score[row·block + j] for a chunk from `first` on. What stands behind the last position is no score of
  /// anything.
  template <class E, int Most>
  static void scores(const Split<T>& s, const Rows<E, Most>& keys, int first, Prefetch& ahead) {
    const E* copied[chunk];
    const bool copy = !keys.side_by_side() || keys.meet();
    for (int h = 0; h < s.heads; ++h) {
      int offset = h * s.head_dim;
      const E* const* const at = rows_of_head(copied, keys, first, offset, s.head_dim, s.buffer, copy);
      if (s.rows == 1)
        chunk_scores<1>(s, h, 0, at, offset, first, ahead);
      else
        for (int r = 0; r < s.rows; r += 4) chunk_scores<4>(s, h, r, at, offset, first, ahead);
    }
  }

  template <int Rows, class E>
  static void chunk_scores(const Split<T>& s, int head, int row, const E* const* keys, int offset, int first,
                           Prefetch& ahead) {
    const T* query[Rows];
    T* score[Rows];
    for (int i = 0; i < Rows; ++i) {
      const int r = head * s.rows + std::min(row + i, s.rows - 1);
      query[i] = s.query + r * s.head_dim;
      score[i] = s.score + r * Contract::block + first;
    }
    constexpr int together = Columns<T, E>::groups * lanes;
    for (int j = 0; j < chunk; j += together)
      KeyProducts<T>::template scores<Rows>(query, keys + j, offset, s.head_dim, score, j, ahead);
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

  /// Step 4 for a chunk from `first` on.
  template <class E, int Most>
  static void outputs(const Split<T>& s, const Rows<E, Most>& values, int first, const int* here, const T* alpha,
                      Prefetch& ahead) {
    const E* copied[chunk];
    for (int h = 0; h < s.heads; ++h) {
      int offset = h * s.value_dim;
      const E* const* const at =
          rows_of_head(copied, values, first, offset, s.value_dim, s.buffer, !values.side_by_side());
      if (s.rows == 1)
        all_outputs<1>(s, h, 0, first, at, offset, here, alpha, ahead);
      else
        for (int r = 0; r < s.rows; r += 4) all_outputs<4>(s, h, r, first, at, offset, here, alpha, ahead);
    }
  }

  template <int Rows, class E>
  static void all_outputs(const Split<T>& s, int head, int row, int first, const E* const* values, int offset,
                          const int* here, const T* alpha, Prefetch& ahead) {
    int d = 0;
    for (; d + 4 * lanes <= s.value_dim; d += 4 * lanes)
      chunk_outputs<Rows, 4>(s, head, row, first, d, values, offset, here, alpha, ahead);
    for (; d + lanes <= s.value_dim; d += lanes)
      chunk_outputs<Rows, 1>(s, head, row, first, d, values, offset, here, alpha, ahead);
    for (; d < s.value_dim; ++d)
      for (int i = row; i < s.rows && i < row + Rows; ++i) {
        const int r = head * s.rows + i;
        T& out = s.result[2 * s.heads * s.rows + r * padded<T>(s.value_dim) + d];
        if (first == 0 && here[i] > 0) out = num::mul_unfenced(out, alpha[r]);
        const T* const p = s.score + r * Contract::block + first;
        for (int j = 0; j < chunk && first + j < here[i]; ++j)
          out = num::fma(p[j], num::widen(E(values[j][offset + d])), out);
      }
  }

  /// Rows rows from `row` on, with `Vectors` vectors of elements; rows behind the last are made up, and not kept.
  template <int Rows, int Vectors, class E>
  static void chunk_outputs(const Split<T>& s, int head, int row, int first, int d, const E* const* values, int offset,
                            const int* here, const T* alpha, Prefetch& ahead) {
    T* out[Rows];
    const T* p[Rows];
    int sees[Rows];
    int low = chunk, high = 0;
    for (int i = 0; i < Rows; ++i) {
      const int in_head = std::min(row + i, s.rows - 1), r = head * s.rows + in_head;
      // What is made up goes where nothing is kept.
      out[i] = row + i < s.rows ? s.result + 2 * s.heads * s.rows + r * padded<T>(s.value_dim) + d : s.spare;
      p[i] = s.score + r * Contract::block + first;
      sees[i] = std::max(0, std::min(chunk, here[in_head] - first));
      low = std::min(low, sees[i]);
      high = std::max(high, sees[i]);
      if (first == 0 && here[in_head] > 0)
        for (int v = 0; v < Vectors; ++v)
          product(V::load(out[i] + v * lanes), V::fill(alpha[r])).store(out[i] + v * lanes);
    }
    KeyProducts<T>::template outputs<Rows, Vectors>(out, p, values, offset + d, low, ahead);
    for (int j = low; j < high; ++j)
      for (int i = 0; i < Rows; ++i)
        if (j < sees[i])
          for (int v = 0; v < Vectors; ++v)
            fma(V::fill(p[i][j]), V::load(values[j] + offset + d + v * lanes), V::load(out[i] + v * lanes))
                .store(out[i] + v * lanes);
  }

  tree::RowSoftmax<Contract, T> softmax_[max_all_rows];
};

}  // namespace invar::backends::host::attention

#endif
