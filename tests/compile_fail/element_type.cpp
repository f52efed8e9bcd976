// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An element type that no contract covers has no accumulator.
// EXPECT: Invar: unsupported element type
#include <invar/num/types.hpp>

#ifdef INVAR_MISUSE
using Element = int;
#else
using Element = float;
#endif

invar::num::accumulator_t<Element> accumulator = 0;
