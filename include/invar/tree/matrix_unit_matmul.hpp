// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// matmul through the software model of a matrix unit: a block of outputs, and an output by itself.
#ifndef INVAR_TREE_MATRIX_UNIT_MATMUL_HPP
#define INVAR_TREE_MATRIX_UNIT_MATMUL_HPP

#include <invar/num/arithmetic.hpp>
#include <invar/num/matrix_unit.hpp>
#include <invar/tree/matmul_store.hpp>
#include <invar/tree/matrix_unit_block.hpp>

#include <Kokkos_Macros.hpp>
#include <cstdint>

namespace invar::tree {

/// One task: block_m rows by 64 columns of c, over the whole of k. Decoded columns of b serve all rows of the block.
template <class Contract, class Store, class A, class B>
struct MatrixUnitBlock {
  using Unit = typename Contract::arithmetic;
  using ElementA = typename A::non_const_value_type;
  using ElementB = typename B::non_const_value_type;
  static constexpr int max_block_m = 32;
  static constexpr int columns = 64;
  /// Group steps that are decoded at a time; schedule, since a chain is continued across panels.
  static constexpr int steps = Unit::group < 32 ? 32 / Unit::group : 1;
  using PanelA = DecodedPanel<ElementA, steps, Unit::group, 1>;
  using PanelB = DecodedPanel<ElementB, steps, Unit::group, columns>;

  Store store;
  A a;
  B b;
  std::int64_t m, n, k;
  std::int64_t block_m;
  std::int64_t tasks_m;

  KOKKOS_FUNCTION void operator()(std::int64_t task) const {
    const std::int64_t row0 = (task % tasks_m) * block_m;
    const std::int64_t column0 = (task / tasks_m) * columns;
    const int rows = static_cast<int>(row0 + block_m <= m ? block_m : m - row0);
    const int width = static_cast<int>(column0 + columns <= n ? columns : n - column0);

    float total[max_block_m * columns];
    float chain[max_block_m * columns];
    for (int i = 0; i < rows * columns; ++i) total[i] = -0.0f;
    for (std::int64_t leaf = 0; leaf < k; leaf += Contract::leaf) {
      const std::int64_t end = leaf + Contract::leaf < k ? leaf + Contract::leaf : k;
      for (int i = 0; i < rows * columns; ++i) chain[i] = 0.0f;
      for (std::int64_t k0 = leaf; k0 < end; k0 += PanelA::depth)
        advance(chain, row0, rows, column0, width, k0,
                static_cast<int>(k0 + PanelA::depth < end ? PanelA::depth : end - k0));
      for (int i = 0; i < rows * columns; ++i) total[i] = num::add(total[i], chain[i]);
    }
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < width; ++j) store(row0 + i, column0 + j, total[i * columns + j]);
  }

 private:
  /// Continues the chains of the block over k0 … k0 + depth − 1.
  KOKKOS_FUNCTION void advance(float* chain, std::int64_t row0, int rows, std::int64_t column0, int width,
                               std::int64_t k0, int depth) const {
    PanelB panel_b;
    load_b(panel_b, column0, width, k0, depth);
    for (int i = 0; i < rows; ++i) {
      PanelA panel_a;
      for (int p = 0; p < PanelA::depth; ++p)
        panel_a.element[p] = p < depth ? ElementA(a(row0 + i, k0 + p)) : ElementA(0.0f);
      panel_a.decode();
      for (int step = 0; step * Unit::group < depth; ++step)
        add_products_to_columns<Unit>(chain + i * columns, panel_a, panel_b, step);
    }
  }

  /// Columns of b, zeros beyond the last and beyond the end of k.
  KOKKOS_FUNCTION void load_b(PanelB& panel, std::int64_t column0, int width, std::int64_t k0, int depth) const {
    const auto element = [&](int p, int j) {
      return p < depth && j < width ? ElementB(b(k0 + p, column0 + j)) : ElementB(0.0f);
    };
    if (b.stride(0) == 1) {  // read along the memory
      for (int j = 0; j < columns; ++j)
        for (int p = 0; p < PanelB::depth; ++p) panel.element[p * columns + j] = element(p, j);
    } else {
      for (int p = 0; p < PanelB::depth; ++p)
        for (int j = 0; j < columns; ++j) panel.element[p * columns + j] = element(p, j);
    }
    panel.decode();
  }
};

/// One task: one output, from elements where they lie. It holds little, so that a GPU can run it.
template <class Contract, class Store, class A, class B>
struct MatrixUnitOutput {
  using Unit = typename Contract::arithmetic;

  Store store;
  A a;
  B b;
  std::int64_t n, k;

  KOKKOS_FUNCTION void operator()(std::int64_t task) const {
    const std::int64_t i = task / n, j = task % n;
    const std::int64_t step_a = a.stride(1), step_b = b.stride(0);
    const auto* const row = a.data() + i * static_cast<std::int64_t>(a.stride(0));
    const auto* const column = b.data() + j * static_cast<std::int64_t>(b.stride(1));
    float total = -0.0f;
    for (std::int64_t leaf = 0; leaf < k; leaf += Contract::leaf) {
      const std::int64_t end = leaf + Contract::leaf < k ? leaf + Contract::leaf : k;
      float chain = 0.0f;
      for (std::int64_t k0 = leaf; k0 < end; k0 += Unit::group)
        chain = num::add_products<Unit>(row + k0 * step_a, step_a, column + k0 * step_b, step_b,
                                        static_cast<int>(k0 + Unit::group < end ? Unit::group : end - k0), chain);
      total = num::add(total, chain);
    }
    store(i, j, total);
  }
};

}  // namespace invar::tree

#endif
