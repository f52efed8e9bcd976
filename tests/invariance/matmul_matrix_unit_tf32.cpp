// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/matrix_unit_law.hpp"

using namespace invar;
using namespace invar::test;

TEST_CASE("matmul of float as Hopper's tf32 units do it") { check_unit_matmul<float, hopper_tf32>(); }
TEST_CASE("matmul of float as Ampere's tf32 units do it") { check_variant(UnitMatmul<float, ampere_tf32>{}); }
TEST_CASE("matmul of float by a tf32 unit: other results") { check_variant(UnitMatmul<float, hopper_tf32, double>{}); }
