// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/matmul_law.hpp"

using namespace invar;
using namespace invar::test;
using T = double;

TEST_CASE("matmul of double: the row law") { check_row_law(Matmul<T>{}); }
TEST_CASE("matmul of double: columns and layouts of b") { check_matmul_columns<T>(); }
TEST_CASE("matmul of double: a weight stored by rows of the output") { check_schedules(TransposedMatmul<T>{}); }
TEST_CASE("matmul of double: a packed weight") { check_packed_matmul<T>(); }
TEST_CASE("matmul of double: bias") { check_schedules(BiasedMatmul<T>{}); }
TEST_CASE("matmul of double: a wrong order is noticed") { check_matmul_controls<T>(); }
TEST_CASE("matmul of double: special values") { check_matmul_special_values<T>(); }
TEST_CASE("matmul of double to float") { check_schedules(Matmul<double, float>{}); }
