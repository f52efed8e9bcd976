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
  bool past_caches = false;  ///< stores go past the caches, to addresses that is_for_streams() has seen
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
#elif defined(__aarch64__) && defined(__GNUC__)
inline Vector<float>::Halves to_float16(Vector<float> a) {
  Vector<float>::Halves halves;
  asm("fcvtn %0.4h, %1.4s" : "=w"(halves) : "w"(a.v));
  return halves;
}
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

/// The bytes of a register into memory.
template <class Register>
void store_register(void* to, const Register& bytes, bool past_caches) {
#if defined(__AVX512F__)
  if constexpr (sizeof(Register) == 64) {
    if (past_caches) return _mm512_stream_si512(static_cast<__m512i*>(to), __builtin_bit_cast(__m512i, bytes));
  }
#endif
#if defined(__AVX2__)
  if constexpr (sizeof(Register) == 32) {
    if (past_caches) return _mm256_stream_si256(static_cast<__m256i*>(to), __builtin_bit_cast(__m256i, bytes));
  }
  if constexpr (sizeof(Register) == 16) {
    if (past_caches) return _mm_stream_si128(static_cast<__m128i*>(to), __builtin_bit_cast(__m128i, bytes));
  }
#endif
  (void)past_caches;
  __builtin_memcpy(to, &bytes, sizeof bytes);
}

/// num::narrow<E> of every lane, in memory.
template <class E, class T>
void narrow_to(E* to, Vector<T> a, bool past_caches = false) {
  if constexpr (in_register_v<T>) {
    const Vector<T> canonical = with_canonical_nan(a);
    if constexpr (std::is_same_v<E, T>) {
      return store_register(to, canonical, past_caches);
    } else if constexpr (std::is_same_v<E, bfloat16_t>) {
      const auto bits = to_bits(canonical);
      const auto halves = upper_halves(bits + 0x7fffu + ((bits >> 16) & 1u));
      return store_register(to, halves, past_caches);
    } else if constexpr (std::is_same_v<E, float16_t> && requires { to_float16(canonical); }) {
      const auto halves = to_float16(canonical);
      return store_register(to, halves, past_caches);
    }
  }
  T lane[Vector<T>::lanes];
  a.store(lane);
  for (int l = 0; l < Vector<T>::lanes; ++l) to[l] = num::narrow<E>(lane[l]);
}

template <class E, class T, class Part>
void store_to(E* to, std::int64_t stride, Vector<T> a, Part part) {
  if constexpr (std::is_same_v<Part, AllLanes>)
    if (stride == 1) return narrow_to(to, a, part.past_caches);
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

/// Asks for what stands below column i in the next row, where an operand has one.
template <class Operand>
void fetch_below(const Operand&, std::int64_t, std::int64_t) {}
template <class X>
void fetch_below(const tree::Elements<X>& x, std::int64_t row, std::int64_t i) {
  __builtin_prefetch(x.address(row + 1 < x.rows() ? row + 1 : row, i), 0, 2);
}
template <class H, class A, class B>
void fetch_below(const tree::RoundedSum<H, A, B>& sum, std::int64_t row, std::int64_t i) {
  fetch_below(sum.a, row, i);
  fetch_below(sum.b, row, i);
}

/// True where stores may go past the caches: whole vectors, in one register each, at multiples of their size.
template <class T, class Y>
bool is_for_streams(const tree::Output<Y>& out, std::int64_t row, std::int64_t i) {
#if defined(__AVX2__)
  using E = typename Y::value_type;
  constexpr std::uintptr_t bytes = Vector<T>::lanes * sizeof(E);
  if constexpr (in_register_v<T> && tree::has_unit_stride_v<Y> && (std::is_same_v<E, T> || sizeof(E) == 2))
    return reinterpret_cast<std::uintptr_t>(&out.y(row, i)) % bytes == 0;
#endif
  (void)out, (void)row, (void)i;
  return false;
}
template <class T, class First, class Second>
bool is_for_streams(const tree::TwoOutputs<First, Second>& out, std::int64_t row, std::int64_t i) {
  return is_for_streams<T>(out.first, row, i) && is_for_streams<T>(out.second, row, i);
}
/// Orders stores past the caches before what follows.
inline void end_streams() {
#if defined(__AVX2__)
  _mm_sfence();
#endif
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
