// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/matmul_law.hpp"

using namespace invar;
using namespace invar::test;
using T = float16_t;

TEST_CASE("matmul of float16_t: the row law") { check_row_law(Matmul<T>{}); }
TEST_CASE("matmul of float16_t: columns and layouts of b") { check_matmul_columns<T>(); }
TEST_CASE("matmul of float16_t: a weight stored by rows of the output") { check_schedules(TransposedMatmul<T>{}); }
TEST_CASE("matmul of float16_t: a packed weight") { check_packed_matmul<T>(); }
TEST_CASE("matmul of float16_t: a large packed weight") { check_large_packed_matmul<T>(); }
TEST_CASE("matmul of float16_t: bias") { check_schedules(BiasedMatmul<T>{}); }
TEST_CASE("matmul of float16_t: a wrong order is noticed") { check_matmul_controls<T>(); }
TEST_CASE("matmul of float16_t: special values") { check_matmul_special_values<T>(); }
TEST_CASE("matmul of float16_t: other types") { check_schedules(Matmul<float16_t, float16_t, bfloat16_t>{}); }
