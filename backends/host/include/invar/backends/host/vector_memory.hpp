// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// How vectors travel between registers and the rows of a kernel's operands and outputs: widened or rounded on the way,
/// whole or in part, from neighbours or at a stride.
#ifndef INVAR_BACKENDS_HOST_VECTOR_MEMORY_HPP
#define INVAR_BACKENDS_HOST_VECTOR_MEMORY_HPP

#include <invar/backends/host/vector_math.hpp>
#include <invar/num/types.hpp>
#include <invar/tree/elements.hpp>
#include <invar/tree/outputs.hpp>

#include <cstdint>
#include <type_traits>

namespace invar::backends::host {

/// The lanes that take part: all of them, or the first few at the end of a row. Nothing beyond them is read or written.
struct AllLanes {
  template <class V>
  static constexpr int of() {
    return V::lanes;
  }
};
struct FirstLanes {
  int count;
  template <class V>
  int of() const {
    return count;
  }
};

template <class V, class E, class Part>
V load_from(const E* from, std::int64_t stride, Part part) {
  if constexpr (std::is_same_v<Part, AllLanes>)
    if (stride == 1) return V::load(from);
  E lane[V::lanes] = {};
  for (int l = 0; l < part.template of<V>(); ++l) lane[l] = from[l * stride];
  return V::load(lane);
}

/// Elements i, i + 1, … of an operand's row.
template <class V, class Operand, class Part>
V load(const Operand& x, std::int64_t row, std::int64_t i, Part part) {
  return load_from<V>(x.address(row, i), Operand::has_unit_stride ? 1 : x.column_stride(), part);
}

#if defined(__AVX512F__)
inline __m256i to_float16(Vector<float> a) { return _mm512_maskz_cvtps_ph(0xffff, a.v, 0); }
#elif defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
inline __m128i to_float16(Vector<float> a) { return _mm256_cvtps_ph(a.v, 0); }
#elif defined(__ARM_NEON) && defined(__aarch64__)
inline float16x4_t to_float16(Vector<float> a) { return vcvt_f16_f32(a.v); }
#endif

/// The upper 16 bits of each lane.
template <class Bits>
auto upper_halves(Bits bits) {
#if defined(__AVX512BW__)
  const __m512i odd = _mm512_set_epi16(31, 29, 27, 25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1, 31, 29, 27, 25, 23,
                                       21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1);
  struct Both {
    __m256i low, high;
  };
  return __builtin_bit_cast(Both, _mm512_maskz_permutexvar_epi16(~0u, odd, __builtin_bit_cast(__m512i, bits))).low;
#else
  using Halves = typename Native<std::uint16_t, sizeof(Bits) / 4>::Type;
  const Halves halves = __builtin_convertvector(bits >> 16, Halves);
  return halves;
#endif
}

/// num::narrow<E> of every lane, in memory.
template <class E, class T>
void narrow_to(E* to, Vector<T> a) {
  if constexpr (in_register_v<T>) {
    const Vector<T> canonical = with_canonical_nan(a);
    if constexpr (std::is_same_v<E, T>) {
      canonical.store(to);
      return;
    } else if constexpr (std::is_same_v<E, bfloat16_t>) {
      const auto bits = to_bits(canonical);
      const auto halves = upper_halves(bits + 0x7fffu + ((bits >> 16) & 1u));
      __builtin_memcpy(to, &halves, sizeof halves);
      return;
    } else if constexpr (std::is_same_v<E, float16_t> && requires { to_float16(canonical); }) {
      const auto halves = to_float16(canonical);
      __builtin_memcpy(to, &halves, sizeof halves);
      return;
    }
  }
  T lane[Vector<T>::lanes];
  a.store(lane);
  for (int l = 0; l < Vector<T>::lanes; ++l) to[l] = num::narrow<E>(lane[l]);
}

template <class E, class T, class Part>
void store_to(E* to, std::int64_t stride, Vector<T> a, Part part) {
  if constexpr (std::is_same_v<Part, AllLanes>)
    if (stride == 1) return narrow_to(to, a);
  E lane[Vector<T>::lanes];
  narrow_to(lane, a);
  for (int l = 0; l < part.template of<Vector<T>>(); ++l) to[l * stride] = lane[l];
}

/// Stores a vector in columns i, i + 1, … of an output's row.
template <class Y, class T, class Part>
void store(const tree::Output<Y>& out, std::int64_t row, std::int64_t i, Vector<T> a, Part part) {
  store_to(&out.y(row, i), tree::has_unit_stride_v<Y> ? 1 : static_cast<std::int64_t>(out.y.stride(1)), a, part);
}
template <class First, class Second, class T, class Part>
void store(const tree::TwoOutputs<First, Second>& out, std::int64_t row, std::int64_t i,
           const tree::TwoValues<Vector<T>>& values, Part part) {
  store(out.first, row, i, values.first, part);
  store(out.second, row, i, values.second, part);
}

/// A vector as tree::RoundedSum rounds it.
template <class H, class T>
Vector<T> rounded_to(Vector<T> a) {
  if constexpr (std::is_same_v<H, T> && in_register_v<T>) {
    return a;
  } else {
    H lane[Vector<T>::lanes];
    narrow_to(lane, a);
    if constexpr (requires { Vector<T>::load(lane); }) {
      return Vector<T>::load(lane);
    } else {
      T wide[Vector<T>::lanes];
      for (int l = 0; l < Vector<T>::lanes; ++l) wide[l] = num::widen(lane[l]);
      return Vector<T>::load(wide);
    }
  }
}
template <class V, class H, class A, class B, class Part>
V load(const tree::RoundedSum<H, A, B>& sum, std::int64_t row, std::int64_t i, Part part) {
  return rounded_to<H>(add(load<V>(sum.a, row, i, part), load<V>(sum.b, row, i, part)));
}

}  // namespace invar::backends::host

#endif
