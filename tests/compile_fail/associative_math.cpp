// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One part of -ffast-math alone is refused too. Only g++ gives this one away; self_check() finds it elsewhere.
// EXPECT: Invar: -fassociative-math
// OPTIONS: -fassociative-math -fno-signed-zeros -fno-trapping-math
// COMPILER: GNU
#include <invar/config.hpp>
