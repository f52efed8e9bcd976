// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// A value that the compiler must round before it is used.
#ifndef INVAR_NUM_BARRIER_HPP
#define INVAR_NUM_BARRIER_HPP

#include <invar/config.hpp>

namespace invar::num {

/// Returns x, and keeps the compiler from fusing the operation that made it into the one that uses it, whatever
/// `-ffp-contract` says. Needed only where a rounded product feeds an addition; an explicit fma needs none.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T barrier(T x) {
#if defined(INVAR_DEVICE_PASS)
  return x;  // device code multiplies through intrinsics that never fuse, see arithmetic.hpp
#elif defined(INVAR_HAS_ASSOC_BARRIER)
  return __builtin_assoc_barrier(x);
#elif defined(_MSC_VER) && !defined(__clang__)
  return x;  // /fp:precise does not contract
#elif defined(__x86_64__) || defined(__i386__)
  asm("" : "+x"(x));
  return x;
#elif defined(__aarch64__)
  asm("" : "+w"(x));
  return x;
#else
  asm("" : "+m"(x));
  return x;
#endif
}

}  // namespace invar::num

#endif
