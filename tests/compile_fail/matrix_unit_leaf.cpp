// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A leaf cannot end inside a group that the unit adds at once.
// EXPECT: Invar: contract::Matmul: Leaf must be a multiple of the matrix unit's group
#include <invar/contract/matmul.hpp>

#ifdef INVAR_MISUSE
constexpr int leaf = 24;
#else
constexpr int leaf = 32;
#endif

template struct invar::contract::Matmul<invar::hopper_16bit, leaf>;
