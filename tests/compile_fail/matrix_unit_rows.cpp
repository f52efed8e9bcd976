// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A matrix unit multiplies matrices; the other contracts do not take it for an arithmetic.
// EXPECT: Invar: unknown arithmetic for contract::Rows
#include <invar/contract/matrix_unit.hpp>
#include <invar/contract/rows.hpp>

#ifdef INVAR_MISUSE
using Arithmetic = invar::hopper_16bit;
#else
using Arithmetic = invar::ieee;
#endif

template struct invar::contract::Rows<Arithmetic, 512, 64>;
