// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/matmul_law.hpp"

#include <invar/verify/trace.hpp>

using namespace invar;
using namespace invar::test;
using T = verify::Trace;

TEST_CASE("matmul of verify::Trace: the row law") { check_row_law(Matmul<T>{}); }
TEST_CASE("matmul of verify::Trace: columns and layouts of b") { check_matmul_columns<T>(); }
TEST_CASE("matmul of verify::Trace: a weight stored by rows of the output") { check_schedules(TransposedMatmul<T>{}); }
TEST_CASE("matmul of verify::Trace: a packed weight") { check_packed_matmul<T>(); }
TEST_CASE("matmul of verify::Trace: bias") { check_schedules(BiasedMatmul<T>{}); }
TEST_CASE("matmul of traces: a wrong order is noticed") { check_matmul_controls<T>(); }
TEST_CASE("matmul of traces: other contracts") {
  check_schedules(Matmul<T, T, T, 37, contract::Matmul<ieee, 64>>{});
  check_schedules(Matmul<T, T, T, 37, contract::Matmul<ieee, 1 << 20>>{});
  check_schedules(PackedMatmul<T, T, T, contract::Matmul<ieee, 128>>{});
}
