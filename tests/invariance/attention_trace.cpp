// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/attention_law.hpp"

#include <invar/verify/trace.hpp>

TEST_CASE("attention of trace: the row law") { invar::test::check_attention_law<invar::verify::Trace>(); }
