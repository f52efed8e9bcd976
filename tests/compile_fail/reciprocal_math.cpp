// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One part of -ffast-math alone is refused too. Only g++ gives this one away; self_check() finds it elsewhere.
// EXPECT: Invar: -freciprocal-math
// OPTIONS: -freciprocal-math
// COMPILER: GNU
#include <invar/config.hpp>
