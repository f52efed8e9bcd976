// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A split holds whole blocks, or one block's order would depend on where the split falls.
// EXPECT: Invar: contract::Attention: Split must be a multiple of Block
#include <invar/contract/attention.hpp>

#ifdef INVAR_MISUSE
constexpr int split = 1000;
#else
constexpr int split = 1024;
#endif

template struct invar::contract::Attention<invar::ieee, 128, split>;
