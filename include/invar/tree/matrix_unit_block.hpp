// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Group steps of the matrix-unit model for many columns at once: decoded operands, shared among outputs.
#ifndef INVAR_TREE_MATRIX_UNIT_BLOCK_HPP
#define INVAR_TREE_MATRIX_UNIT_BLOCK_HPP

#include <invar/num/matrix_unit.hpp>

#include <Kokkos_Macros.hpp>
#include <cstdint>

namespace invar::tree {

/// Elements with their decoded forms side by side, so that loops over them are vector code.
///
/// \tparam Steps  group steps along k
/// \tparam Group  elements of a group step
/// \tparam Width  1 for a row of a; the number of columns of b
template <class T, int Steps, int Group, int Width>
struct DecodedPanel {
  static constexpr int depth = Steps * Group;

  // Vectors are aligned. g++ 12 aligns such arrays on a stack by itself where it profits, and may then lose it again.
  alignas(64) T element[depth * Width];
  alignas(64) std::uint32_t significand[depth * Width];
  alignas(64) std::int32_t exponent[depth * Width];
  alignas(64) std::uint32_t negative[depth * Width];
  bool special[Steps];  ///< an infinity or a NaN in the step

  /// Decodes `element`.
  KOKKOS_FUNCTION void decode() {
    for (int step = 0; step < Steps; ++step) {
      std::uint32_t found = 0;
      for (int i = step * Group * Width; i < (step + 1) * Group * Width; ++i) {
        const num::UnitOperand operand = num::decode_operand(element[i]);
        significand[i] = operand.significand;
        exponent[i] = operand.exponent;
        negative[i] = operand.negative;
        found |= num::is_special_operand(element[i]) ? 1u : 0u;
      }
      special[step] = found != 0;
    }
  }
};

/// acc[n] joined with a group's products a[k]·b[k, n], for N columns.
template <class Unit, class A, class B, int Steps, int N>
KOKKOS_INLINE_FUNCTION void add_products_to_columns(float* acc, const DecodedPanel<A, Steps, Unit::group, 1>& a,
                                                    const DecodedPanel<B, Steps, Unit::group, N>& b, int step) {
  constexpr int group = Unit::group;
  constexpr int fraction_bits = num::OperandFormat<A>::fraction_bits + num::OperandFormat<B>::fraction_bits;
  const int first = step * group;
  if (a.special[step] || b.special[step]) {
    for (int n = 0; n < N; ++n)
      acc[n] = num::add_products<Unit>(a.element + first, 1, b.element + first * N + n, N, group, acc[n]);
    return;
  }
  std::int32_t largest[N];
  std::int32_t sum[N];
  for (int n = 0; n < N; ++n) {
    largest[n] = num::accumulator_exponent<Unit>(acc[n]);
    sum[n] = 0;
  }
  for (int k = first; k < first + group; ++k) {
    const std::int32_t exponent = a.exponent[k];
    for (int n = 0; n < N; ++n) {
      const std::int32_t product = exponent + b.exponent[k * N + n];
      largest[n] = largest[n] > product ? largest[n] : product;
    }
  }
  for (int k = first; k < first + group; ++k) {
    const std::uint32_t significand = a.significand[k];
    const std::int32_t exponent = a.exponent[k];
    const std::uint32_t negative = a.negative[k];
    for (int n = 0; n < N; ++n)
      sum[n] += num::align_product<Unit, fraction_bits>(significand * b.significand[k * N + n],
                                                        largest[n] - exponent - b.exponent[k * N + n],
                                                        negative ^ b.negative[k * N + n]);
  }
  for (int n = 0; n < N; ++n) {
    const float joined = num::join_accumulator<Unit>(sum[n], largest[n], acc[n]);
    acc[n] = num::is_special_accumulator(acc[n]) ? num::keep_special_accumulator(acc[n]) : joined;
  }
}

}  // namespace invar::tree

#endif
