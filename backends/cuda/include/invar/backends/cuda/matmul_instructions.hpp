// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The machine instructions that the CUDA kernels of matmul name themselves.
#ifndef INVAR_BACKENDS_CUDA_MATMUL_INSTRUCTIONS_HPP
#define INVAR_BACKENDS_CUDA_MATMUL_INSTRUCTIONS_HPP

#include <invar/num/types.hpp>

#include <Kokkos_Core.hpp>

#include <type_traits>

namespace invar::backends::cuda::gemm {

/// num::widen, with the machine's own conversion from binary16: exact too, and one instruction.
template <class T>
__device__ inline num::accumulator_t<T> widened(T x) {
  if constexpr (std::is_same_v<T, float16_t>) {
    float y;
    asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
    return y;
  } else {
    return num::widen(x);
  }
}

/// Starts a copy of Bytes bytes (4, 8 or 16, aligned to that) from global to shared memory that runs beside the thread.
template <int Bytes>
__device__ inline void copy_async(void* shared, const void* global) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16);
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  if constexpr (Bytes == 16)
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(to), "l"(global) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(global), "n"(Bytes) : "memory");
}

/// A copy of 4 bytes whose neighbours in memory are wanted soon: the second-level cache brings 128 bytes.
__device__ inline void copy_async_ahead(void* shared, const void* global) {
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], 4;" ::"r"(to), "l"(global) : "memory");
}

/// Reads 16 bytes, whose neighbours are wanted soon too.
__device__ inline void load_ahead(float (&to)[4], const void* global) {
  asm volatile("ld.global.L2::128B.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
               : "l"(global));
}

/// copy_async() where only the first `valid` bytes are read; zeros follow.
template <int Bytes>
__device__ inline void copy_async_part(void* shared, const void* global, int valid) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16);
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  if constexpr (Bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(global), "r"(valid) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(global), "n"(Bytes), "r"(valid)
                 : "memory");
}

/// Ends a group of copies.
__device__ inline void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }

/// Waits until at most Pending of this thread's groups still run.
template <int Pending>
__device__ inline void wait_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
}

/// d = a·b + d for an 8 × 4 and a 4 × 8 matrix: lane l holds a(l / 4, l % 4), b(l % 4, l / 4) and d(l / 4, 2·(l % 4))
/// with its right neighbour. Every output is the chain fma(a, b, d) over ascending k.
__device__ inline void mma_8x8x4(double& d0, double& d1, double a, double b) {
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(d0), "+d"(d1)
      : "d"(a), "d"(b));
}

/// The same for 16 × 16 and 16 × 8: a[i] is a(l / 4 + i % 2·8, i / 2·4 + l % 4), b[i] is b(i·4 + l % 4, l / 4), and
/// d[i] is d(l / 4 + i / 2·8, 2·(l % 4) + i % 2).
__device__ inline void mma_16x8x16(double (&d)[4], const double (&a)[8], const double (&b)[4]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, "
      "{%12, %13, %14, %15}, {%0, %1, %2, %3};"
      : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]), "d"(b[1]),
        "d"(b[2]), "d"(b[3]));
#else
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    mma_8x8x4(d[0], d[1], a[2 * i], b[i]);
    mma_8x8x4(d[2], d[3], a[2 * i + 1], b[i]);
  }
#endif
}

}  // namespace invar::backends::cuda::gemm

#endif
