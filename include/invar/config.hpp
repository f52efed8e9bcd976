// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Compiler detection, and the refusal of compiler modes that a macro gives away.
/// Modes that define no macro (contraction, flush-to-zero) are found by invar::self_check().
#ifndef INVAR_CONFIG_HPP
#define INVAR_CONFIG_HPP

#include <Kokkos_Macros.hpp>
#include <cfloat>

// INVAR_ALLOW_FAST_MATH exists so that the self-check itself can be shown to fail under these flags.
#ifndef INVAR_ALLOW_FAST_MATH
#if defined(__FAST_MATH__)
#error "Invar: -ffast-math (or -Ofast) reorders roundings, so no result would keep its bits. Build without it."
#endif
#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
#error "Invar: -ffinite-math-only removes the NaN and infinity rules that the contracts state. Build without it."
#endif
#if defined(__ASSOCIATIVE_MATH__) && __ASSOCIATIVE_MATH__
#error "Invar: -fassociative-math reorders sums, so no result would keep its bits. Build without it."
#endif
#if defined(__RECIPROCAL_MATH__) && __RECIPROCAL_MATH__
#error "Invar: -freciprocal-math replaces divisions by products. Build without it."
#endif
#if defined(_M_FP_FAST)
#error "Invar: /fp:fast reorders roundings, so no result would keep its bits. Use /fp:precise."
#endif
#endif

#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD != 0
#error "Invar: float expressions are evaluated in a wider type here. On 32-bit x86 use -msse2 -mfpmath=sse."
#endif

/// Defined while device code is being compiled (CUDA, HIP or SYCL).
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__) || defined(__SYCL_DEVICE_ONLY__)
#define INVAR_DEVICE_PASS 1
#endif

/// Before a loop that device code must unroll, so that an array which it indexes stays in registers; before one that it
/// must not. Host compilers do not know the pragma.
#if defined(__CUDA_ARCH__)
#define INVAR_UNROLL _Pragma("unroll")
#define INVAR_NO_UNROLL _Pragma("unroll 1")
#else
#define INVAR_UNROLL
#define INVAR_NO_UNROLL
#endif

/// g++ has a barrier of its own against fusing a product into an addition, but its vectoriser forgets it (seen with
/// 12.2, -O3). Where it can fuse, on processors with an fma, an explicit fma keeps the two apart; elsewhere it cannot.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__) && \
    (defined(__FMA__) || defined(__FMA4__) || defined(__aarch64__))
#define INVAR_PRODUCT_BY_FMA 1
#endif

/// The compiler's own barrier; it leaves vectorisation alone. nvcc's front end does not know it even in host code, and
/// clang has none that works without fast-math.
#if !defined(__clang__) && !defined(__CUDACC__) && defined(__has_builtin)
#if __has_builtin(__builtin_assoc_barrier)
#define INVAR_HAS_ASSOC_BARRIER 1
#endif
#endif

#endif
