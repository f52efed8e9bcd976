// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The state of one query row in attention: running maximum, row sum in classes, output; and its three steps.
#ifndef INVAR_TREE_ONLINE_SOFTMAX_HPP
#define INVAR_TREE_ONLINE_SOFTMAX_HPP

#include <invar/num/arithmetic.hpp>
#include <invar/num/exp2.hpp>
#include <invar/tree/chain_tile.hpp>

#include <Kokkos_Macros.hpp>
#include <cmath>
#include <cstdint>

namespace invar::tree {

/// The value of a finished split, or of the total so far: maximum m, sum l, and output O, which is held elsewhere.
template <class T>
struct SplitSums {
  T max;
  T sum;
};

/// One row inside a split, as contract::Attention states its steps.
template <class Contract, class T>
class RowSoftmax {
 public:
  static constexpr int parts = Contract::block / 32;
  static constexpr int classes = parts * 4;

  KOKKOS_FUNCTION void begin() {
    max_ = T(-HUGE_VALF);
    for (int i = 0; i < classes; ++i) sum_[i] = T(0);
  }

  /// Steps 2 and 3 for a block of which the first `visible` positions count: turns scores into probabilities in place,
  /// advances maximum and sums, and returns alpha, by which the output has to be scaled.
  KOKKOS_FUNCTION T block(T* score, int visible, T scale) {
    T highest = T(-HUGE_VALF);
    for (int j = 0; j < visible; ++j) highest = num::max(highest, score[j]);
    const T next = num::max(max_, num::mul(scale, highest));
    const T shift = num::finite_or_zero(next);
    const T alpha = num::exp2(num::sub(max_, shift));
    const T minus_shift = num::negate(shift);
    for (int j = 0; j < visible; ++j) score[j] = num::exp2(num::fma(scale, score[j], minus_shift));
    // −0 is the exact identity of addition: what is not visible changes no sum.
    for (int j = visible; j < Contract::block; ++j) score[j] = T(-0.0);
    max_ = next;
    add_classes(score, alpha);
    return alpha;
  }

  /// Step 5.
  KOKKOS_FUNCTION SplitSums<T> end() const {
    T part[parts];
    for (int u = 0; u < parts; ++u)
      part[u] = num::add(num::add(sum_[4 * u], sum_[4 * u + 1]), num::add(sum_[4 * u + 2], sum_[4 * u + 3]));
    for (int stride = 1; stride < parts; stride *= 2)
      for (int u = 0; u + stride < parts; u += 2 * stride) part[u] = num::add(part[u], part[u + stride]);
    return {max_, part[0]};
  }

 private:
  KOKKOS_FUNCTION void add_classes(const T* p, T alpha) {
    for (int u = 0; u < parts; ++u) {
      T lane[8];
      for (int i = 0; i < 8; ++i) lane[i] = T(-0.0);
      for (int j = 0; j < 32; j += 8)
        for (int i = 0; i < 8; ++i) lane[i] = num::add(lane[i], p[u * 32 + j + i]);
      for (int t = 0; t < 4; ++t)
        sum_[4 * u + t] = num::fma(sum_[4 * u + t], alpha, num::add(lane[2 * t], lane[2 * t + 1]));
    }
  }

  T max_;
  T sum_[classes];
};

/// Step 6: folds a later split (m, l, O) into the total.
template <class T>
KOKKOS_INLINE_FUNCTION void fold_split(SplitSums<T>& total, T* total_out, const SplitSums<T>& split, const T* split_out,
                                       int width) {
  const T next = num::max(total.max, split.max);
  const T shift = num::finite_or_zero(next);
  const T a = num::exp2(num::sub(total.max, shift));
  const T a_split = num::exp2(num::sub(split.max, shift));
  for (int d = 0; d < width; ++d) total_out[d] = num::fma(split_out[d], a_split, num::mul(total_out[d], a));
  total.sum = num::fma(split.sum, a_split, num::mul(total.sum, a));
  total.max = next;
}

}  // namespace invar::tree

#endif
