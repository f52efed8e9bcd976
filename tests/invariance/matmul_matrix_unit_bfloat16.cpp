// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/matrix_unit_law.hpp"

using namespace invar;
using namespace invar::test;
using T = bfloat16_t;

TEST_CASE("matmul of bfloat16_t as Hopper's matrix units do it") { check_unit_matmul<T, hopper_16bit>(); }
TEST_CASE("matmul of bfloat16_t as Ampere's matrix units do it") { check_variant(UnitMatmul<T, ampere_16bit>{}); }
TEST_CASE("matmul of bfloat16_t by a matrix unit: other results") {
  check_variant(UnitMatmul<T, hopper_16bit, bfloat16_t>{});
  check_variant(BiasedUnitMatmul<T, hopper_16bit, float16_t>{});
}

TEST_CASE("matmul by a matrix unit: refusals") {
  const Execution exec;
  const Matrix<T> a("a", 4, 10), b("b", 10, 6);
  const Matrix<float> c("c", 4, 6), wrong("wrong", 3, 7);
  using Contract = contract::Matmul<hopper_16bit>;
  check_refused(wrong, "c extent 0: expected 4, found 3", [&] { matmul<Contract>(exec, wrong, a, b); });
  check_refused(c, "b extent 0: expected 10, found 4", [&] { matmul<Contract>(exec, c, a, Matrix<T>("b", 4, 6)); });
  for (const schedule::Matmul& foreign :
       {schedule::Matmul{"of ieee", 8, 32, 64}, schedule::Matmul{"too many rows", 1, 64, 1000}})
    check_refused(c, "an entry of schedule::matrix_unit_matmul_table",
                  [&] { matmul<Contract>(exec, c, a, b, &foreign); });
}
