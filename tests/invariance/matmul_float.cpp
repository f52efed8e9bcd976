// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/matmul_law.hpp"

using namespace invar;
using namespace invar::test;
using T = float;

TEST_CASE("matmul of float: the row law") { check_row_law(Matmul<T>{}); }
TEST_CASE("matmul of float: columns and layouts of b") { check_matmul_columns<T>(); }
TEST_CASE("matmul of float: a weight stored by rows of the output") { check_schedules(TransposedMatmul<T>{}); }
TEST_CASE("matmul of float: a packed weight") { check_packed_matmul<T>(); }
TEST_CASE("matmul of float: a large packed weight") { check_large_packed_matmul<T>(); }
TEST_CASE("matmul of float: bias") { check_schedules(BiasedMatmul<T>{}); }
TEST_CASE("matmul of float: layouts of a and c") { check_layouts(Matmul<T>{}); }
TEST_CASE("matmul of float: a wrong order is noticed") { check_matmul_controls<T>(); }
TEST_CASE("matmul of float: special values") { check_matmul_special_values<T>(); }
TEST_CASE("matmul: refusals") {
  check_matmul_refusals();
  check_packed_matmul_refusals(Execution());
}

TEST_CASE("matmul of float: another contract and other types") {
  check_schedules(Matmul<float, float, float, 37, contract::Matmul<ieee, 128>>{});
  check_schedules(Matmul<float, float16_t, bfloat16_t>{});
  check_schedules(PackedMatmul<float, float, bfloat16_t, contract::Matmul<ieee, 1 << 20>>{});
  check_schedules(Matmul<float, double>{});
}
