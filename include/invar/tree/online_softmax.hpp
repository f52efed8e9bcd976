// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The state of one query row in attention: running maximum and row sum in classes; and its steps.
#ifndef INVAR_TREE_ONLINE_SOFTMAX_HPP
#define INVAR_TREE_ONLINE_SOFTMAX_HPP

#include <invar/num/arithmetic.hpp>
#include <invar/num/exp2.hpp>

#include <Kokkos_Macros.hpp>
#include <cmath>
#include <cstdint>

namespace invar::tree {

/// Maximum m and sum l of a finished split.
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

  struct Step {
    T alpha;        ///< scales what the split has so far
    T minus_shift;  ///< p = exp2(fma(scale, score, minus_shift))
  };

  /// Step 2 for a block whose largest visible score is `highest`.
  KOKKOS_FUNCTION Step advance(T highest, T scale) {
    const T next = num::max(max_, num::mul(scale, highest));
    const T shift = num::finite_or_zero(next);
    const T alpha = num::exp2(num::sub(max_, shift));
    max_ = next;
    return {alpha, num::negate(shift)};
  }

  /// Step 3 for a whole block of probabilities; −0, the exact identity of addition, for what is not visible.
  KOKKOS_FUNCTION void add(const T* p, T alpha) {
    for (int u = 0; u < parts; ++u) {
      T lane[8];
      for (int i = 0; i < 8; ++i) lane[i] = T(-0.0);
      for (int j = 0; j < 32; j += 8)
        for (int i = 0; i < 8; ++i) lane[i] = num::add(lane[i], p[u * 32 + j + i]);
      for (int t = 0; t < 4; ++t)
        sum_[4 * u + t] = num::fma(sum_[4 * u + t], alpha, num::add(lane[2 * t], lane[2 * t + 1]));
    }
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
  T max_;
  T sum_[classes];
};

/// What step 6 multiplies the outputs by: O = fma(O_s, split, O·total).
template <class T>
struct FoldFactors {
  T total;
  T split;
};

/// Step 6 for maximum and sum: folds a later split's into the total's.
template <class T>
KOKKOS_INLINE_FUNCTION FoldFactors<T> fold_sums(T& max, T& sum, T split_max, T split_sum) {
  const T next = num::max(max, split_max);
  const T shift = num::finite_or_zero(next);
  const T a = num::exp2(num::sub(max, shift));
  const T a_split = num::exp2(num::sub(split_max, shift));
  sum = num::fma(split_sum, a_split, num::mul(sum, a));
  max = next;
  return {a, a_split};
}

}  // namespace invar::tree

#endif
