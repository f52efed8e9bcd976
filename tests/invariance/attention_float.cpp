// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/attention_law.hpp"

TEST_CASE("attention of float: the row law") { invar::test::check_attention_law<float>(); }
