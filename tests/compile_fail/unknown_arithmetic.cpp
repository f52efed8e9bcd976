// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A contract names its arithmetic; one that the library does not know is no contract.
// EXPECT: Invar: unknown arithmetic for contract::Matmul
#include <invar/contract/matmul.hpp>

#ifdef INVAR_MISUSE
struct Arithmetic {};
#else
using Arithmetic = invar::ieee;
#endif

template struct invar::contract::Matmul<Arithmetic, 512>;
