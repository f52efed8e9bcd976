// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One part of -ffast-math alone is refused too.
// EXPECT: Invar: -ffinite-math-only
// OPTIONS: -ffinite-math-only
#include <invar/config.hpp>
