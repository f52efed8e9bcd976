// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An execution space for which there is no backend is refused, not run by another one.
// EXPECT: Invar: no backend for this execution space
#include <invar/schedule/backend.hpp>

struct UnknownDevice {};

#ifdef INVAR_MISUSE
using Exec = UnknownDevice;
#else
using Exec = Kokkos::DefaultHostExecutionSpace;
#endif

template struct invar::schedule::Backend<Exec>;
