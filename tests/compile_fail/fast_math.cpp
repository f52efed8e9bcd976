// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A compiler mode that reorders roundings is refused wherever a macro gives it away.
// EXPECT: Invar: -ffast-math (or -Ofast) reorders roundings
// OPTIONS: -ffast-math
#include <invar/config.hpp>

#ifdef INVAR_MISUSE
static_assert(INVAR_MISUSE == 1, "the misuse of this file is the compiler option");
#endif
