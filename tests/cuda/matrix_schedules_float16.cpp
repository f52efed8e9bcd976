// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/matrix_schedules.hpp"

using namespace invar;
using namespace invar::test;

TEST_CASE("matmul of float16_t by Hopper's matrix unit: every batch size, every schedule") {
  check_matrix_unit_schedules<float16_t, hopper_16bit>();
}
