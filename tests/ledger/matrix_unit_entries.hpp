// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the ledger holds of matmul with a matrix unit's arithmetic. A host computes it through the software model.
#ifndef INVAR_TESTS_LEDGER_MATRIX_UNIT_ENTRIES_HPP
#define INVAR_TESTS_LEDGER_MATRIX_UNIT_ENTRIES_HPP

#include "entries.hpp"

#include <invar/contract/matrix_unit.hpp>

#include <cstdint>
#include <string>
#include <tuple>

namespace invar::test {

// Ragged groups, several leaves of 2048 with a short last one, and a layer.
inline const MatmulShapes unit_shapes{{1, 1, 1},
                                      {1, 300, 1100},
                                      {5, 33, 511},
                                      {17, 65, 513},
                                      {3, 130, 5000},
                                      {1, 4096, 4096, Cost::high},
                                      {40, 257, 4096, Cost::high}};

/// c [m, n] of float from a and b of type T.
template <class Contract, class T>
void unit_matmuls(Ledger& ledger) {
  const auto op = INVAR_OPERATION(matmul, Contract);
  for (const auto& [m, n, k, cost] : unit_shapes) {
    const std::string shape = std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k);
    ledger.add<T>(op, shape, 300, cost, [m = m, n = n, k = k] {
      return std::tuple(Matrix<float>("c", m, n), random<Matrix<T>>(300, m, k), random<Matrix<T>>(301, k, n));
    });
  }
}

inline void add_matrix_units(Ledger& ledger) {
  using contract::Matmul;
  using contract::SingleChainMatmul;
  unit_matmuls<Matmul<hopper_16bit>, bfloat16_t>(ledger);
  unit_matmuls<Matmul<hopper_16bit>, float16_t>(ledger);
  unit_matmuls<Matmul<hopper_16bit, 512>, bfloat16_t>(ledger);
  unit_matmuls<SingleChainMatmul<hopper_16bit>, bfloat16_t>(ledger);
  unit_matmuls<Matmul<hopper_tf32>, float>(ledger);
  unit_matmuls<Matmul<hopper_fp8>, float8_e4m3_t>(ledger);
  unit_matmuls<Matmul<hopper_fp8>, float8_e5m2_t>(ledger);
  unit_matmuls<Matmul<ampere_16bit>, bfloat16_t>(ledger);
  unit_matmuls<Matmul<ampere_16bit>, float16_t>(ledger);
  unit_matmuls<Matmul<ampere_tf32>, float>(ledger);
}

}  // namespace invar::test

#endif
