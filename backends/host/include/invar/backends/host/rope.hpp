// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The rotation of one token's heads on hosts: a vector of pairs, its sines and cosines computed once for all heads.
#ifndef INVAR_BACKENDS_HOST_ROPE_HPP
#define INVAR_BACKENDS_HOST_ROPE_HPP

#include <invar/backends/host/vector_functions.hpp>
#include <invar/backends/host/vector_memory.hpp>

#include <cstdint>

namespace invar::backends::host {

/// Lane 2i becomes lane 2i + 1 and the other way round.
template <class T>
Vector<T> swapped_pairs(Vector<T> a) {
  return shuffled(a, [](int l) { return l ^ 1; });
}

/// The heads of one token, from x to y.
template <class Y, class X>
class TokenHeads {
 public:
  using T = num::accumulator_t<typename X::non_const_value_type>;
  using V = Vector<T>;

  TokenHeads(const Y& y, const X& x, std::int64_t token) : y_(y), x_(x), token_(token) {}

  /// Pairs i and i + pairs, for i in [0, pairs).
  template <class Angles>
  void rotate_halves(std::int64_t pairs, const Angles& angles) const {
    each_part(0, pairs, [&](std::int64_t i, auto part) {
      const V angle = angles(i, part), c = cos(angle), s = sin(angle);
      each_head([&](std::int64_t h) {
        const V a = load_at(h, i, part), b = load_at(h, i + pairs, part);
        store_at(h, i, fma(a, c, negate(mul(b, s))), part);
        store_at(h, i + pairs, fma(b, c, mul(a, s)), part);
      });
    });
  }

  /// Pairs 2i and 2i + 1. In a vector that holds both, −(b·s) is b·(−s): the same bits.
  template <class Angles>
  void rotate_adjacent(std::int64_t pairs, const Angles& angles) const {
    each_part(0, pairs, [&](std::int64_t i, auto pair_part) {
      const V angle = angles(i, pair_part);
      T c[V::lanes], s[V::lanes], both_c[2 * V::lanes], both_s[2 * V::lanes];
      cos(angle).store(c);
      sin(angle).store(s);
      for (int l = 0; l < V::lanes; ++l) {
        both_c[2 * l] = both_c[2 * l + 1] = c[l];
        both_s[2 * l] = num::negate(s[l]);
        both_s[2 * l + 1] = s[l];
      }
      const std::int64_t begin = 2 * i, end = begin + 2 * pair_part.template of<V>();
      each_part(begin, end, [&](std::int64_t d, auto part) {
        const V factor_c = V::load(both_c + (d - begin)), factor_s = V::load(both_s + (d - begin));
        each_head([&](std::int64_t h) {
          const V a = load_at(h, d, part);
          store_at(h, d, fma(a, factor_c, mul(swapped_pairs(a), factor_s)), part);
        });
      });
    });
  }

  /// Elements from `begin` on, which are in no pair.
  void copy_from(std::int64_t begin) const {
    each_part(begin, static_cast<std::int64_t>(x_.extent(2)), [&](std::int64_t d, auto part) {
      each_head([&](std::int64_t h) { store_at(h, d, load_at(h, d, part), part); });
    });
  }

 private:
  template <class F>
  static void each_part(std::int64_t begin, std::int64_t end, const F& f) {
    for (; begin + V::lanes <= end; begin += V::lanes) f(begin, AllLanes());
    if (begin < end) f(begin, FirstLanes{static_cast<int>(end - begin)});
  }
  template <class F>
  void each_head(const F& f) const {
    for (std::int64_t h = 0; h < static_cast<std::int64_t>(x_.extent(1)); ++h) f(h);
  }
  template <class Part>
  V load_at(std::int64_t head, std::int64_t d, Part part) const {
    return load_from<V>(&x_(token_, head, d), column_stride(x_), part);
  }
  template <class Part>
  void store_at(std::int64_t head, std::int64_t d, V value, Part part) const {
    store_to(&y_(token_, head, d), column_stride(y_), value, part);
  }
  template <class View>
  static std::int64_t column_stride(const View& view) {
    return tree::has_unit_stride_v<View> ? 1 : static_cast<std::int64_t>(view.stride(2));
  }

  const Y& y_;
  const X& x_;
  std::int64_t token_;
};

}  // namespace invar::backends::host

#endif
