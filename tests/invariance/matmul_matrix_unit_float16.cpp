// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/matrix_unit_law.hpp"

using namespace invar;
using namespace invar::test;
using T = float16_t;

TEST_CASE("matmul of float16_t as Hopper's matrix units do it") { check_unit_matmul<T, hopper_16bit>(); }
TEST_CASE("matmul of float16_t as Ampere's matrix units do it") { check_variant(UnitMatmul<T, ampere_16bit>{}); }
TEST_CASE("matmul of float16_t by a matrix unit: other results") {
  check_variant(UnitMatmul<T, hopper_16bit, float16_t>{});
  check_variant(BiasedUnitMatmul<T, hopper_16bit, bfloat16_t>{});
}
