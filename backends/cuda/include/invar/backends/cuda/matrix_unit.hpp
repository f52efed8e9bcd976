// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The instructions of the matrix unit, one function each: `mma.sync` from compute capability 8.0 on, and `wgmma` in
/// code compiled for sm_90a. Which bits they have is said in contract/matrix_unit.hpp. The fp8 form of `mma.sync` is
/// left out: on Hopper it has other bits than `wgmma`.
///
/// All operands are alike in bytes: an instruction reads 32 bytes of k from every row of a and every column of b.
#ifndef INVAR_BACKENDS_CUDA_MATRIX_UNIT_HPP
#define INVAR_BACKENDS_CUDA_MATRIX_UNIT_HPP

#include <invar/backends/cuda/matrix_unit_widths.hpp>
#include <invar/num/float8.hpp>
#include <invar/num/types.hpp>

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

namespace invar::backends::cuda {

/// Positions of k that an instruction joins.
template <class T>
inline constexpr int unit_depth_v = 32 / static_cast<int>(sizeof(T));

/// d += a·b for 16 rows and 8 columns, by one warp: m16n8k16 of bfloat16_t and float16_t, m16n8k8 of tf32.
///
/// Lane l holds d(l / 4 + i / 2·8, 2·(l % 4) + i % 2) in d[i]; bytes 4·(l % 4) + i / 2·16 to + 3 of row l / 4 + i % 2·8
/// in a[i]; and the bytes 4·(l % 4) + i·16 to + 3 of column l / 4 in b[i].
template <class T>
__device__ inline void mma(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
  static_assert(std::is_same_v<T, bfloat16_t> || std::is_same_v<T, float16_t> || std::is_same_v<T, float>,
                "Invar: mma takes bfloat16_t, float16_t, or float as tf32");
  if constexpr (std::is_same_v<T, bfloat16_t>)
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  else if constexpr (std::is_same_v<T, float16_t>)
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  else
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// True in device code compiled for sm_90a, which has wgmma. In other code the functions below stop the kernel.
__device__ constexpr bool has_wgmma() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  return true;
#else
  return false;
#endif
}

/// How 16-byte pieces change places in shared memory.
enum class Swizzle : std::uint32_t { none = 0, bytes128 = 1, bytes64 = 2, bytes32 = 3 };

/// Whether neighbours in shared memory are neighbours along k, or along the rows (of a) or columns (of b).
enum class Major { k, mn };

/// An operand of wgmma in shared memory: PTX's matrix descriptor. `row` is a row of a or a column of b.
///
/// | layout              | atom                                              | leading          | stride           |
/// |---------------------|---------------------------------------------------|------------------|------------------|
/// | none, Major::k      | 8 rows of 16 bytes of k                           | to the next in k | to the next rows |
/// | bytes128, Major::k  | 8 rows of 128 bytes of k                          | 0, not read      | to the next rows |
/// | bytes128, Major::mn | 8 positions of k, for each 64 rows of 16-bit type | to the next rows | to the next in k |
///
/// Offsets are in bytes, multiples of 16, from one atom to the next. An atom's bytes lie together; with bytes128 its
/// piece p of 16 bytes in line r lies at p XOR r, as TMA stores it, and atoms are aligned to 1024 bytes.
///
/// The bits: address / 16 in 0–13, leading / 16 in 16–29, stride / 16 in 32–45, swizzle in 62–63.
class SharedOperand {
 public:
  __device__ SharedOperand(const void* shared, Swizzle swizzle, std::uint32_t leading, std::uint32_t stride)
      : bits_(encode(static_cast<std::uint32_t>(__cvta_generic_to_shared(shared))) | encode(leading) << 16 |
              encode(stride) << 32 | static_cast<std::uint64_t>(swizzle) << 62) {}

  /// The operand some bytes further on. From one instruction's 32 bytes of k to the next it is 32 within an atom of
  /// (bytes128, Major::k), and as many atoms as the 32 bytes take in the other layouts.
  __device__ SharedOperand operator+(std::uint32_t bytes) const {
    SharedOperand next = *this;
    next.bits_ += bytes / 16;
    return next;
  }

  __device__ std::uint64_t bits() const { return bits_; }

 private:
  static __device__ std::uint64_t encode(std::uint32_t bytes) { return (bytes & 0x3ffffu) / 16; }

  std::uint64_t bits_;
};

namespace detail {

/// The depth and the types of wgmma, in PTX's words.
template <class A, class B>
struct WgmmaTypes;
template <>
struct WgmmaTypes<bfloat16_t, bfloat16_t> {
  static constexpr char text[] = "k16.f32.bf16.bf16";
};
template <>
struct WgmmaTypes<float16_t, float16_t> {
  static constexpr char text[] = "k16.f32.f16.f16";
};
template <>
struct WgmmaTypes<float, float> {
  static constexpr char text[] = "k8.f32.tf32.tf32";
};
template <>
struct WgmmaTypes<float8_e4m3_t, float8_e4m3_t> {
  static constexpr char text[] = "k32.f32.e4m3.e4m3";
};
template <>
struct WgmmaTypes<float8_e4m3_t, float8_e5m2_t> {
  static constexpr char text[] = "k32.f32.e4m3.e5m2";
};
template <>
struct WgmmaTypes<float8_e5m2_t, float8_e4m3_t> {
  static constexpr char text[] = "k32.f32.e5m2.e4m3";
};
template <>
struct WgmmaTypes<float8_e5m2_t, float8_e5m2_t> {
  static constexpr char text[] = "k32.f32.e5m2.e5m2";
};

/// Which operands are transposed. Only 16-bit types are asked, and only about what lies in shared memory.
template <bool Is16Bit, bool AIsShared, Major A, Major B>
struct WgmmaMajors {
  static_assert(A == Major::k && B == Major::k, "Invar: wgmma reads only 16-bit types in Major::mn");
  static constexpr char text[] = "";
};
template <>
struct WgmmaMajors<true, true, Major::k, Major::k> {
  static constexpr char text[] = ", 0, 0";
};
template <>
struct WgmmaMajors<true, true, Major::k, Major::mn> {
  static constexpr char text[] = ", 0, 1";
};
template <>
struct WgmmaMajors<true, true, Major::mn, Major::k> {
  static constexpr char text[] = ", 1, 0";
};
template <>
struct WgmmaMajors<true, true, Major::mn, Major::mn> {
  static constexpr char text[] = ", 1, 1";
};
template <>
struct WgmmaMajors<true, false, Major::k, Major::k> {
  static constexpr char text[] = ", 0";
};
template <>
struct WgmmaMajors<true, false, Major::k, Major::mn> {
  static constexpr char text[] = ", 1";
};

}  // namespace detail

/// Starts d = a·b, + d if `accumulate`, for 64 rows and N = 2·Registers columns, by the four warps of a warpgroup:
/// m64nNk16 of 16-bit types, m64nNk8 of tf32, m64nNk32 of fp8; N is 8, 16, 32, 64, 96, 128, 192 or 256.
///
/// Lane l of warp w holds d(16·w + l / 4 + i / 2 % 2·8, 8·(i / 4) + 2·(l % 4) + i % 2) in d[i]. fence_products() comes
/// before the first of a series and after other instructions wrote d; commit_products() and wait_products() after it.
/// Without `accumulate` what d holds is not read, and the sum starts from +0.
///
/// A series must be straight code from its fence to its commit. Around a branch or a loop among its instructions the
/// compiler adds fences (ptxas says so: C7519), and may wait for each one (C7520).
template <class A, class B = A, Major MajorA = Major::k, Major MajorB = Major::k, int Registers>
__device__ inline void wgmma(float (&d)[Registers], SharedOperand a, SharedOperand b, bool accumulate) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  detail::wgmma_width<detail::WgmmaTypes<A, B>, detail::WgmmaMajors<sizeof(A) == 2, true, MajorA, MajorB>>(
      d, a.bits(), b.bits(), accumulate);
#else
  __trap();
#endif
}

/// The same with a in registers, as mma() has it, of the warp's own 16 rows. a must stay as it is until the wait.
template <class A, class B = A, Major MajorB = Major::k, int Registers>
__device__ inline void wgmma(float (&d)[Registers], const std::uint32_t (&a)[4], SharedOperand b, bool accumulate) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  detail::wgmma_width<detail::WgmmaTypes<A, B>, detail::WgmmaMajors<sizeof(A) == 2, false, Major::k, MajorB>>(
      d, a, b.bits(), accumulate);
#else
  __trap();
#endif
}

/// Makes what this thread stored in shared memory visible to wgmma; a barrier between the threads must follow. TMA
/// needs none.
__device__ inline void fence_shared_stores() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

/// Orders a series of wgmma after the warpgroup's own accesses to its registers.
__device__ inline void fence_products() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}

/// Ends a group of wgmma.
__device__ inline void commit_products() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}

/// Waits until at most Pending of the warpgroup's groups still run.
template <int Pending>
__device__ inline void wait_products() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
#endif
}

/// Keeps the compiler from moving accesses to d across this place: it does not know that wgmma writes d until the wait.
template <int Registers>
__device__ inline void pin(float (&d)[Registers]) {
#pragma unroll
  for (int i = 0; i < Registers; ++i) asm volatile("" : "+f"(d[i])::"memory");
}

}  // namespace invar::backends::cuda

#endif
