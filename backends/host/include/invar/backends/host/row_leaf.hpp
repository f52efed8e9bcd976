// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// One leaf of a row contract in vectors: each holds neighbouring lanes of the leaf.
#ifndef INVAR_BACKENDS_HOST_ROW_LEAF_HPP
#define INVAR_BACKENDS_HOST_ROW_LEAF_HPP

#include <invar/tree/lanes.hpp>

#include <cstdint>

// nvcc's front end does not take vectors in code that it also compiles for a device: there one lane follows the other.
#if defined(__CUDACC__)
namespace invar::backends::host {
template <class Contract>
using RowLeaf = tree::SequentialLeaf<Contract>;
}
#else

#include <invar/backends/host/vector_functions.hpp>
#include <invar/backends/host/vector_memory.hpp>

#include <type_traits>
#include <utility>

namespace invar::backends::host {

/// tree::SequentialLeaf's interface; steps and joins get vectors of lanes.
template <class Contract>
class RowLeaf {
 public:
  RowLeaf(std::int64_t row, std::int64_t begin, std::int64_t end) : row_(row), begin_(begin), end_(end) {}

  template <class Operand>
  const Operand& load(const Operand& operand) const {
    return operand;
  }

  std::int64_t begin() const { return begin_; }

  template <class T, class Step, class Join, class... Operand>
  T fold(T identity, const Step& step, const Join& join, const Operand&... operand) const {
    using V = Vector<std::conditional_t<num::Ieee<T> || num::Symbolic<T>, T, float>>;
    if constexpr ((!num::Ieee<T> && !num::Symbolic<T>) || Contract::lanes < V::lanes)
      return tree::SequentialLeaf<Contract>(row_, begin_, end_).fold(identity, step, join, operand...);
    else
      return fold_vectors<V>(std::make_integer_sequence<int, Contract::lanes / V::lanes>(), identity, step, join,
                             operand...);
  }

#if defined(__AVX512F__) && defined(__AVX512DQ__)
  /// The fold of Choice::choose, which is exactly associative. What looks for a NaN is kept off the chains.
  template <class Choice, num::Ieee T, class Operand>
  T extreme(const Operand& x) const {
    using V = Vector<T>;
    V a = V::fill(Choice::template identity<T>()), b = a, c = a, d = a;
    unsigned nan = 0;
    std::int64_t i = begin_;
    for (; i + 4 * V::lanes <= end_; i += 4 * V::lanes) {
      const V p = host::load<V>(x, row_, i, AllLanes()), q = host::load<V>(x, row_, i + V::lanes, AllLanes());
      const V r = host::load<V>(x, row_, i + 2 * V::lanes, AllLanes()),
              s = host::load<V>(x, row_, i + 3 * V::lanes, AllLanes());
      nan |= unordered(p, q) | unordered(r, s);
      a = Choice::choose_number(a, p), b = Choice::choose_number(b, q);
      c = Choice::choose_number(c, r), d = Choice::choose_number(d, s);
    }
    if (nan != 0) return num::canonical_nan<T>();
    const T value =
        halve_lanes<V::lanes / 2>(Choice::choose_number(Choice::choose_number(a, b), Choice::choose_number(c, d)),
                                  [](V lower, V upper) { return Choice::choose_number(lower, upper); });
    if (i == end_) return value;
    return Choice::choose(value, RowLeaf(row_, i, end_)
                                     .fold(
                                         Choice::template identity<T>(),
                                         [](auto acc, std::int64_t, auto v) { return Choice::choose(acc, v); },
                                         [](auto lower, auto upper) { return Choice::choose(lower, upper); }, x));
  }
#endif

  /// The lowest column whose element is `value`, where there is one; any NaN counts as equal to a NaN.
  template <num::Ieee T, class Operand>
  std::int64_t first(T value, const Operand& operand) const {
    using V = Vector<T>;
    const bool is_nan = value != value;
    std::int64_t whole = begin_;
    if constexpr (in_register_v<T>) {
      // From the end to the beginning, so that each lane keeps the first of its vectors.
      whole += (end_ - begin_) / V::lanes * V::lanes;
      const V wanted = V::fill(value);
      V found = V::fill(T(-1));
      for (std::int64_t i = whole; i > begin_;) {
        i -= V::lanes;
        const V at = V::fill(static_cast<T>(i - begin_));
        const V x = host::load<V>(operand, row_, i, AllLanes());
        found = is_nan ? select(x != x, at, found) : select(x == wanted, at, found);
      }
      T lane[V::lanes];
      found.store(lane);
      std::int64_t lowest = end_;
      for (int l = 0; l < V::lanes; ++l) {
        const std::int64_t i = begin_ + static_cast<std::int64_t>(lane[l]) + l;
        if (lane[l] >= T(0) && i < lowest) lowest = i;
      }
      if (lowest < end_) return lowest;
    }
    for (std::int64_t i = whole; i < end_; ++i)
      if (const T x = operand(row_, i); x == value || (is_nan && x != x)) return i;
    return -1;
  }

 private:
  /// The pack K counts the vectors; an array that a loop indexes would stay in memory.
  template <class V, int... K, class T, class Step, class Join, class... Operand>
  T fold_vectors(std::integer_sequence<int, K...>, T identity, const Step& step, const Join& join,
                 const Operand&... operand) const {
    constexpr int count = sizeof...(K);
    V lane[count] = {((void)K, V::fill(identity))...};
    const auto advance = [&](V& chain, std::int64_t at) {
      chain = step(chain, at, host::load<V>(operand, row_, at, AllLanes())...);
    };
    std::int64_t i = begin_;
    for (; i + Contract::lanes <= end_; i += Contract::lanes) (advance(lane[K], i + K * V::lanes), ...);
    if (i < end_) (last<K>(lane[K], i, step, operand...), ...);
    halve<count / 2>(lane, join);
    return halve_lanes<V::lanes / 2>(lane[0], join);
  }

  /// Vector K of the leaf's last, partly filled set of lanes.
  template <int K, class V, class Step, class... Operand>
  void last(V& lane, std::int64_t first, const Step& step, const Operand&... operand) const {
    const std::int64_t i = first + K * V::lanes;
    if (i + V::lanes <= end_) {
      lane = step(lane, i, host::load<V>(operand, row_, i, AllLanes())...);
    } else if (i < end_) {
      const FirstLanes part{static_cast<int>(end_ - i)};
      lane = with_first(part.count, step(lane, i, host::load<V>(operand, row_, i, part)...), lane);
    }
  }
  template <class T>
  static Vector<T> with_first(int count, Vector<T> first, Vector<T> others) {
    T a[Vector<T>::lanes], b[Vector<T>::lanes];
    first.store(a);
    others.store(b);
    for (int l = 0; l < count; ++l) b[l] = a[l];
    return Vector<T>::load(b);
  }

  template <int Stride, class V, class Join>
  static void halve(V* lane, const Join& join) {
    if constexpr (Stride > 0) {
      [&]<int... K>(std::integer_sequence<int, K...>) { ((lane[K] = join(lane[K], lane[K + Stride])), ...); }
      (std::make_integer_sequence<int, Stride>());
      halve<Stride / 2>(lane, join);
    }
  }
  template <int Stride, class V, class Join>
  static auto halve_lanes(V lanes, const Join& join) {
    if constexpr (Stride > 0)
      return halve_lanes<Stride / 2>(join(lanes, lanes_above<Stride>(lanes)), join);
    else
      return first_lane(lanes);
  }

  std::int64_t row_, begin_, end_;
};

}  // namespace invar::backends::host
#endif

#endif
