// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/matrix_unit_law.hpp"

using namespace invar;
using namespace invar::test;

TEST_CASE("matmul of float8_e4m3_t as Hopper's matrix units do it") { check_unit_matmul<float8_e4m3_t, hopper_fp8>(); }
TEST_CASE("matmul of float8_e4m3_t as Ada's matrix units do it") {
  check_variant(UnitMatmul<float8_e4m3_t, ada_fp8>{});
}
TEST_CASE("matmul of float8_e5m2_t and of both types") {
  using Contract = contract::Matmul<hopper_fp8, 128>;
  check_variant(UnitMatmul<float8_e5m2_t, hopper_fp8, bfloat16_t>{});
  check_variant(UnitMatmul<float8_e4m3_t, hopper_fp8, float, Contract, float8_e5m2_t>{});
  check_variant(UnitMatmul<float8_e5m2_t, hopper_fp8, bfloat16_t, Contract, float8_e4m3_t>{});
}
