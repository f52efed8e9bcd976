// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The lanes of a warp: exchange of values of any type, and the aligned tree over values that the lanes hold.
#ifndef INVAR_BACKENDS_CUDA_WARP_HPP
#define INVAR_BACKENDS_CUDA_WARP_HPP

#include <invar/config.hpp>

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace invar::backends::cuda {

inline constexpr int warp_size = 32;

KOKKOS_FORCEINLINE_FUNCTION int thread_in_block() {
#ifdef __CUDA_ARCH__
  return static_cast<int>(threadIdx.x);
#else
  return 0;
#endif
}
KOKKOS_FORCEINLINE_FUNCTION int lane() { return thread_in_block() % warp_size; }

/// The value that lane() ^ distance holds. All lanes of the warp call it together.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T exchange(const T& value, [[maybe_unused]] int distance) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % 4 == 0);
  T result = value;
#ifdef __CUDA_ARCH__
  constexpr int words = sizeof(T) / 4;
  std::uint32_t word[words];
  std::memcpy(word, &value, sizeof(T));
  for (int i = 0; i < words; ++i) word[i] = __shfl_xor_sync(0xffffffffu, word[i], distance);
  std::memcpy(&result, word, sizeof(T));
#endif
  return result;
}

/// join(mine, other), or with the two exchanged. The operands are chosen before the join, so that a dear one is done
/// once for all lanes; of a number's join the compiler may know that the order does not matter.
template <class T, class Join>
KOKKOS_FORCEINLINE_FUNCTION T join_ordered(bool mine_is_left, const T& mine, const T& other, const Join& join) {
  if constexpr (std::is_class_v<T>) {
    const T left = mine_is_left ? mine : other;
    const T right = mine_is_left ? other : mine;
    return join(left, right);
  } else {
    return mine_is_left ? join(mine, other) : join(other, mine);
  }
}

/// join(the pair's lower value, its upper value) in both lanes of the pair (lane, lane ^ distance).
template <class T, class Join>
KOKKOS_FORCEINLINE_FUNCTION T join_pair(const T& mine, const T& other, int distance, const Join& join) {
  return join_ordered((lane() & distance) == 0, mine, other, join);
}

/// The value that the first lane holds.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T broadcast(const T& value) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % 4 == 0);
  T result = value;
#ifdef __CUDA_ARCH__
  constexpr int words = sizeof(T) / 4;
  std::uint32_t word[words];
  std::memcpy(word, &value, sizeof(T));
  for (int i = 0; i < words; ++i) word[i] = __shfl_sync(0xffffffffu, word[i], 0);
  std::memcpy(&result, word, sizeof(T));
#endif
  return result;
}

/// The aligned tree over `count` nodes, node n held by lanes n·Spread … n·Spread + Spread − 1; a missing right sibling
/// is passed by. Every lane gets the root.
template <int Spread = 1, class T, class Join>
KOKKOS_FORCEINLINE_FUNCTION T fold_lanes(T value, int count, const Join& join) {
  INVAR_UNROLL
  for (int stride = 1; stride < warp_size / Spread; stride *= 2) {
    if (stride >= count) return broadcast(value);
    const T other = exchange(value, stride * Spread);
    const int node = lane() / Spread;
    const bool has_right = (node / (2 * stride)) * 2 * stride + stride < count;
    const bool is_left = (node & stride) == 0;
    if (has_right)
      value = join_ordered(is_left, value, other, join);
    else
      value = is_left ? value : other;
  }
  return value;
}

}  // namespace invar::backends::cuda

#endif
