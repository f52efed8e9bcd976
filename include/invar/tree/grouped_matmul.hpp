// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// grouped_matmul where only the device can read the offsets: an output by itself, with any contract.
#ifndef INVAR_TREE_GROUPED_MATMUL_HPP
#define INVAR_TREE_GROUPED_MATMUL_HPP

#include <invar/contract/matrix_unit.hpp>
#include <invar/num/arithmetic.hpp>
#include <invar/num/matrix_unit.hpp>
#include <invar/num/types.hpp>

#include <Kokkos_Macros.hpp>
#include <cstdint>

namespace invar::tree {

/// One task: one output.
template <class Contract, class C, class A, class B, class Offsets>
struct GroupedOutput {
  using Arithmetic = typename Contract::arithmetic;

  C c;
  A a;
  B b;
  Offsets offsets;
  std::int64_t groups, n, k;

  KOKKOS_FUNCTION void operator()(std::int64_t task) const {
    const std::int64_t i = task / n, j = task % n, g = group_of(i);
    if (g >= 0) c(i, j) = num::narrow<typename C::value_type>(inner_product(i, g, j));
  }

 private:
  /// The group whose rows i is among; −1 if there is none.
  KOKKOS_FUNCTION std::int64_t group_of(std::int64_t i) const {
    // The first offset above i ends the group. Empty groups end where they begin, so that none of them is found.
    std::int64_t low = 0, high = groups + 1;
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      if (static_cast<std::int64_t>(offsets(middle)) > i)
        high = middle;
      else
        low = middle + 1;
    }
    return low <= groups ? low - 1 : -1;
  }

  KOKKOS_FUNCTION auto inner_product(std::int64_t i, std::int64_t g, std::int64_t j) const {
    using Sum = decltype(chain(i, g, j, 0, 0));
    Sum total(k == 0 ? 0.0 : -0.0);
    for (std::int64_t leaf = 0; leaf < k; leaf += Contract::leaf)
      total = num::add(total, chain(i, g, j, leaf, leaf + Contract::leaf < k ? leaf + Contract::leaf : k));
    return total;
  }

  /// The leaf over k in [begin, end).
  KOKKOS_FUNCTION auto chain(std::int64_t i, std::int64_t g, std::int64_t j, std::int64_t begin,
                             std::int64_t end) const {
    using ElementA = typename A::non_const_value_type;
    using ElementB = typename B::non_const_value_type;
    if constexpr (contract::is_matrix_unit_v<Arithmetic>) {
      const std::int64_t step_a = a.stride(1), step_b = b.stride(1);
      const auto* const row = a.data() + i * static_cast<std::int64_t>(a.stride(0));
      const auto* const column =
          b.data() + g * static_cast<std::int64_t>(b.stride(0)) + j * static_cast<std::int64_t>(b.stride(2));
      float sum = 0.0f;
      for (std::int64_t p = begin; p < end; p += Arithmetic::group)
        sum = num::add_products<Arithmetic>(row + p * step_a, step_a, column + p * step_b, step_b,
                                            static_cast<int>(p + Arithmetic::group < end ? Arithmetic::group : end - p),
                                            sum);
      return sum;
    } else {
      num::accumulator_t<ElementA> sum(0);
      for (std::int64_t p = begin; p < end; ++p)
        sum = num::fma(num::widen(ElementA(a(i, p))), num::widen(ElementB(b(g, p, j))), sum);
      return sum;
    }
  }
};

}  // namespace invar::tree

#endif
