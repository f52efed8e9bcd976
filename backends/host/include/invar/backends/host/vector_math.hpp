// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What kernels of rows and elements compute with vectors beside fma and add, see num/vector.hpp: lane by lane the bits
/// of num/'s scalar functions, up to the sign and payload of a NaN.
///
/// A vector in one register is handled by the compilers' own vector operators, which need no intrinsics for each
/// processor; g++ and clang make the same instructions of them. A vector that is an array goes lane by lane, which lets
/// the trace scalar through too.
#ifndef INVAR_BACKENDS_HOST_VECTOR_MATH_HPP
#define INVAR_BACKENDS_HOST_VECTOR_MATH_HPP

#include <invar/backends/host/simd.hpp>
#include <invar/num/vector.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace invar::num {
template <class T>
inline constexpr bool is_vector_v<backends::host::Vector<T>> = true;
}  // namespace invar::num

namespace invar::backends::host {

/// True where a vector of T is one register.
template <class T>
inline constexpr bool in_register_v = requires(Vector<T> a) {
  a.v;
};
template <class T>
concept InRegister = in_register_v<T>;

/// The compilers' vector of T's with as many lanes as Vector<T>.
template <class T, int Lanes = Vector<T>::lanes>
struct Native {
  typedef T Type __attribute__((vector_size(Lanes * sizeof(T))));
};
template <class T>
using native_t = typename Native<T>::Type;

/// The unsigned integer of T's size, and a vector of those.
template <class T>
using lane_bits_t = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
template <class T>
using native_bits_t = typename Native<lane_bits_t<T>, Vector<T>::lanes>::Type;

template <InRegister T>
native_t<T> native(Vector<T> a) {
  return __builtin_bit_cast(native_t<T>, a);
}
template <class V>
V from_native(decltype(native(V())) a) {
  return __builtin_bit_cast(V, a);
}

/// f of each lane of vectors that are arrays.
template <class F, class T, class... More>
Vector<T> each_lane(const F& f, Vector<T> a, const More&... more) {
  for (int l = 0; l < Vector<T>::lanes; ++l) a.lane[l] = f(a.lane[l], more.lane[l]...);
  return a;
}

template <InRegister T>
native_bits_t<T> to_bits(Vector<T> a) {
  return __builtin_bit_cast(native_bits_t<T>, a);
}
template <InRegister T>
auto operator<(Vector<T> a, Vector<T> b) {
  return native(a) < native(b);
}
template <InRegister T>
auto operator>(Vector<T> a, Vector<T> b) {
  return native(a) > native(b);
}
template <InRegister T>
auto operator>=(Vector<T> a, Vector<T> b) {
  return native(a) >= native(b);
}
template <InRegister T>
auto operator!=(Vector<T> a, Vector<T> b) {
  return native(a) != native(b);
}
template <InRegister T>
auto operator==(Vector<T> a, Vector<T> b) {
  return native(a) == native(b);
}
/// The comparison of two native vectors is a vector of 0 and −1.
template <InRegister T, class Mask>
Vector<T> select(Mask condition, Vector<T> a, Vector<T> b) {
  return from_native<Vector<T>>(condition ? native(a) : native(b));
}

/// num::lesser and num::greater, of vectors in registers.
template <InRegister T>
Vector<T> lesser(Vector<T> a, Vector<T> b) {
  return select(a < b, a, b);
}
template <InRegister T>
Vector<T> greater(Vector<T> a, Vector<T> b) {
  return select(a > b, a, b);
}
#if defined(__AVX512F__)
// g++ 12 does not see the instruction in the comparison. Without a mask it warns of an uninitialised operand.
inline Vector<float> lesser(Vector<float> a, Vector<float> b) { return {_mm512_maskz_min_ps(0xffff, a.v, b.v)}; }
inline Vector<float> greater(Vector<float> a, Vector<float> b) { return {_mm512_maskz_max_ps(0xffff, a.v, b.v)}; }
#elif defined(__AVX2__) && defined(__FMA__)
inline Vector<float> lesser(Vector<float> a, Vector<float> b) { return {_mm256_min_ps(a.v, b.v)}; }
inline Vector<float> greater(Vector<float> a, Vector<float> b) { return {_mm256_max_ps(a.v, b.v)}; }
#endif

template <class T>
Vector<T> sub(Vector<T> a, Vector<T> b) {
  if constexpr (in_register_v<T>)
    return from_native<Vector<T>>(native(a) - native(b));
  else
    return each_lane([](T x, T y) { return num::sub(x, y); }, a, b);
}
template <class T>
Vector<T> mul_unfenced(Vector<T> a, Vector<T> b) {
  if constexpr (in_register_v<T>)
    return from_native<Vector<T>>(native(a) * native(b));
  else
    return each_lane([](T x, T y) { return num::mul_unfenced(x, y); }, a, b);
}
template <class T>
Vector<T> mul(Vector<T> a, Vector<T> b) {
  if constexpr (in_register_v<T>)
    return fma(a, b, Vector<T>::fill(T(-0.0)));  // an explicit fma, which nothing fuses with what follows
  else
    return each_lane([](T x, T y) { return num::mul(x, y); }, a, b);
}
template <class T>
Vector<T> div(Vector<T> a, Vector<T> b) {
  if constexpr (in_register_v<T>)
    return from_native<Vector<T>>(native(a) / native(b));
  else
    return each_lane([](T x, T y) { return num::div(x, y); }, a, b);
}
template <class T>
Vector<T> negate(Vector<T> a) {
  if constexpr (in_register_v<T>)
    return from_native<Vector<T>>(-native(a));
  else
    return each_lane([](T x) { return num::negate(x); }, a);
}

/// a with every NaN made canonical.
template <InRegister T>
Vector<T> with_canonical_nan(Vector<T> a) {
  return select(a != a, Vector<T>::fill(num::canonical_nan<T>()), a);
}
#if defined(__AVX512F__)
/// One instruction that replaces what is a NaN, quiet or signalling, and keeps everything else.
inline Vector<float> with_canonical_nan(Vector<float> a) {
  return {_mm512_fixupimm_ps(_mm512_set1_ps(num::canonical_nan<float>()), a.v, _mm512_set1_epi32(0x11111100), 0)};
}
#endif

/// The NaN of max and min: one where either operand is.
template <InRegister T>
Vector<T> with_nan_of(Vector<T> a, Vector<T> b, Vector<T> number) {
  return select((native(a) != native(a)) | (native(b) != native(b)), Vector<T>::fill(num::canonical_nan<T>()), number);
}
/// num::max and num::min where no operand is NaN. Of two zeros each of the two comparisons picks another one; then the
/// bits of both are joined.
template <InRegister T>
Vector<T> max_number(Vector<T> a, Vector<T> b) {
  return num::from_bits<Vector<T>>(to_bits(select(a > b, a, b)) & to_bits(select(b > a, b, a)));
}
template <InRegister T>
Vector<T> min_number(Vector<T> a, Vector<T> b) {
  return num::from_bits<Vector<T>>(to_bits(select(a < b, a, b)) | to_bits(select(b < a, b, a)));
}
#if defined(__AVX512F__) && defined(__AVX512DQ__)
// One instruction that knows −0 from +0.
inline Vector<float> max_number(Vector<float> a, Vector<float> b) { return {_mm512_range_ps(a.v, b.v, 5)}; }
inline Vector<float> min_number(Vector<float> a, Vector<float> b) { return {_mm512_range_ps(a.v, b.v, 4)}; }
inline Vector<double> max_number(Vector<double> a, Vector<double> b) { return {_mm512_range_pd(a.v, b.v, 5)}; }
inline Vector<double> min_number(Vector<double> a, Vector<double> b) { return {_mm512_range_pd(a.v, b.v, 4)}; }
/// Not zero where a lane of either is NaN.
inline unsigned unordered(Vector<float> a, Vector<float> b) { return _mm512_cmp_ps_mask(a.v, b.v, _CMP_UNORD_Q); }
inline unsigned unordered(Vector<double> a, Vector<double> b) { return _mm512_cmp_pd_mask(a.v, b.v, _CMP_UNORD_Q); }
#endif

template <class T>
Vector<T> max(Vector<T> a, Vector<T> b) {
  if constexpr (in_register_v<T>)
    return with_nan_of(a, b, max_number(a, b));
  else
    return each_lane([](T x, T y) { return num::max(x, y); }, a, b);
}
template <class T>
Vector<T> min(Vector<T> a, Vector<T> b) {
  if constexpr (in_register_v<T>)
    return with_nan_of(a, b, min_number(a, b));
  else
    return each_lane([](T x, T y) { return num::min(x, y); }, a, b);
}

/// Lane l becomes lane from(l), a constant expression; of a vector in a register.
template <class V, class From>
V shuffled(V a, From) {
  const auto lanes = [&]<int... L>(std::integer_sequence<int, L...>) {
#if defined(__clang__)
    return __builtin_shufflevector(native(a), native(a), From()(L)...);
#else
    using Bits = decltype(to_bits(a));
    return __builtin_shuffle(native(a), Bits{static_cast<unsigned>(From()(L))...});
#endif
  };
  return from_native<V>(lanes(std::make_integer_sequence<int, V::lanes>()));
}

/// Lane l becomes lane l + Stride, for l < Stride; other lanes become anything.
template <int Stride, class T>
Vector<T> lanes_above(Vector<T> a) {
  if constexpr (in_register_v<T>) {
    return shuffled(a, [](int l) { return (l + Stride) % Vector<T>::lanes; });
  } else {
    for (int l = 0; l < Stride; ++l) a.lane[l] = a.lane[l + Stride];
    return a;
  }
}
template <class T>
T first_lane(Vector<T> a) {
  if constexpr (in_register_v<T>)
    return native(a)[0];
  else
    return a.lane[0];
}

}  // namespace invar::backends::host

#endif
