// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Rows of the KV cache on their way into shared memory, asynchronously wherever an element has at least 4 bytes.
#ifndef INVAR_BACKENDS_CUDA_ATTENTION_COPY_HPP
#define INVAR_BACKENDS_CUDA_ATTENTION_COPY_HPP

#include <invar/backends/cuda/attention_arguments.hpp>

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace invar::backends::cuda::attn {

/// Copies Bytes from global to shared memory, of which those from `used` on become zero unread.
template <int Bytes>
__device__ __forceinline__ void copy_async(void* to, const void* from, int used) {
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(to));
  if constexpr (Bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(used) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(address), "l"(from), "n"(Bytes), "r"(used)
                 : "memory");
}

/// Closes a group of the copies that this thread has begun.
__device__ __forceinline__ void copy_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

/// Waits until at most `Pending` of this thread's youngest groups are on their way.
template <int Pending>
__device__ __forceinline__ void copy_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
}

/// The smallest power of two that is at least n, as an exponent.
__host__ __device__ __forceinline__ int log2_up(int n) {
  int exponent = 0;
  while ((1 << exponent) < n) ++exponent;
  return exponent;
}

/// Where byte `byte` of position `row` lies among its 128 bytes of a stage of keys: pieces of 16 bytes change places by
/// the row, so that lanes which read one piece of neighbouring rows meet in no bank.
__device__ __forceinline__ int key_byte(int row, int byte) { return byte ^ ((row & 7) << 4); }

/// One element, asynchronously where the hardware can.
template <class T>
__device__ __forceinline__ void copy_element(void* to, const T* from) {
  if constexpr (sizeof(T) >= 4)
    copy_async<sizeof(T)>(to, from, sizeof(T));
  else
    *static_cast<T*>(to) = *from;
}

/// Begins to copy elements [first, first + width) of `rows` rows of keys by the threads of a group; row i begins at
/// from.data + offsets[i].
template <int Threads, class T>
__device__ __forceinline__ void copy_keys(unsigned char* to, const Cache<T>& from, const std::int64_t* offsets,
                                          int rows, int first, int width, int thread) {
  constexpr int size = sizeof(T);
  if (from.vectors) {
    const int byte = thread % 8 * 16;
    const int left = width * size - byte;
    const T* const source = from.data + first + byte / size;
    if (left > 0) {
#pragma unroll 4
      for (int row = thread / 8; row < rows; row += Threads / 8)
        copy_async<16>(to + row * 128 + key_byte(row, byte), source + offsets[row], left < 16 ? left : 16);
    }
  } else {
    constexpr int row_elements = 128 / size;
    const int e = thread % row_elements;
    if (e < width)
      for (int row = thread / row_elements; row < rows; row += Threads / row_elements)
        copy_element(to + row * 128 + key_byte(row, e * size), from.data + offsets[row] + (first + e) * from.element);
  }
}

/// Begins to copy `rows` rows of values of `width` elements, `pitch` bytes apart, by the threads of a group.
///
/// \param spread  exponent: so many neighbouring threads share a row; at least the row's pieces
template <int Threads, class T>
__device__ __forceinline__ void copy_values(unsigned char* to, int pitch, const Cache<T>& from,
                                            const std::int64_t* offsets, int rows, int width, int spread, int thread) {
  constexpr int size = sizeof(T);
  const int items = rows << spread;
  const int mask = (1 << spread) - 1;
  if (from.vectors) {
#pragma unroll 4
    for (int i = thread; i < items; i += Threads) {
      const int row = i >> spread;
      const int byte = (i & mask) * 16;
      const int left = width * size - byte;
      if (left > 0)
        copy_async<16>(to + row * pitch + byte, from.data + offsets[row] + byte / size, left < 16 ? left : 16);
    }
  } else {
    for (int i = thread; i < items; i += Threads) {
      const int row = i >> spread;
      const int e = i & mask;
      if (e < width) copy_element(to + row * pitch + e * size, from.data + offsets[row] + e * from.element);
    }
  }
}

/// The exponent `spread` for rows of `width` elements.
template <class T>
int row_spread(const Cache<T>& from, int width) {
  return log2_up(from.vectors ? (width * static_cast<int>(sizeof(T)) + 15) / 16 : width);
}

/// An element in its accumulator's type. The hardware's conversion is exact too; it makes NaN canonical in its own way,
/// which no result shows.
template <class T>
__device__ __forceinline__ num::accumulator_t<T> widen(T x) {
  if constexpr (std::is_same_v<T, float16_t>) {
    float result;
    asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(x.bits));
    return result;
  } else {
    return num::widen(x);
  }
}

/// N neighbouring elements of shared memory, widened. `from` is aligned to their size, or to 16 bytes where that is
/// more.
template <int N, class T, class Scalar>
__device__ __forceinline__ void load_widened(Scalar (&to)[N], const void* from) {
  constexpr int bytes = N * static_cast<int>(sizeof(T));
  T element[N];
  if constexpr (bytes % 16 == 0) {
#pragma unroll
    for (int i = 0; i < bytes / 16; ++i) {
      const uint4 word = static_cast<const uint4*>(from)[i];
      std::memcpy(reinterpret_cast<char*>(element) + 16 * i, &word, 16);
    }
  } else if constexpr (bytes == 8) {
    const uint2 word = *static_cast<const uint2*>(from);
    std::memcpy(element, &word, 8);
  } else if constexpr (bytes == 4) {
    const unsigned word = *static_cast<const unsigned*>(from);
    std::memcpy(element, &word, 4);
  } else {
#pragma unroll
    for (int i = 0; i < N; ++i) element[i] = static_cast<const T*>(from)[i];
  }
#pragma unroll
  for (int i = 0; i < N; ++i) to[i] = widen(element[i]);
}

}  // namespace invar::backends::cuda::attn

#endif
