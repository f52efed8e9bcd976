// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What the attention kernels are given: pointers and strides. Views of any type become the same structs, so that a
/// kernel is compiled once for each contract and type of cache.
#ifndef INVAR_BACKENDS_CUDA_ATTENTION_ARGUMENTS_HPP
#define INVAR_BACKENDS_CUDA_ATTENTION_ARGUMENTS_HPP

#include <invar/num/types.hpp>
#include <invar/op/kv_cache.hpp>

#include <cstdint>
#include <type_traits>

namespace invar::backends::cuda::attn {

/// Integers of any type, one or two indices.
struct Integers {
  const void* data = nullptr;
  std::int64_t stride[2] = {0, 0};
  int bytes = 0;
  bool is_signed = false;

  __device__ __forceinline__ std::int64_t operator()(std::int64_t i, std::int64_t j = 0) const {
    const std::int64_t at = i * stride[0] + j * stride[1];
    switch (bytes) {
      case 4:
        return is_signed ? std::int64_t{static_cast<const std::int32_t*>(data)[at]}
                         : std::int64_t{static_cast<const std::uint32_t*>(data)[at]};
      case 8: return static_cast<const std::int64_t*>(data)[at];
      case 2:
        return is_signed ? std::int64_t{static_cast<const std::int16_t*>(data)[at]}
                         : std::int64_t{static_cast<const std::uint16_t*>(data)[at]};
      default:
        return is_signed ? std::int64_t{static_cast<const std::int8_t*>(data)[at]}
                         : std::int64_t{static_cast<const std::uint8_t*>(data)[at]};
    }
  }
};

template <class View>
Integers integers(const View& v) {
  using T = typename View::non_const_value_type;
  Integers result{v.data(), {static_cast<std::int64_t>(v.stride(0)), 0}, sizeof(T), std::is_signed_v<T>};
  if constexpr (static_cast<int>(View::rank) == 2) result.stride[1] = static_cast<std::int64_t>(v.stride(1));
  return result;
}

/// The type of q's and out's elements. They are touched once, so their type is looked up at run time.
enum class ElementType { float32, bfloat16, float16, symbolic };

template <class T>
constexpr ElementType element_type() {
  if constexpr (num::Symbolic<T>)
    return ElementType::symbolic;
  else if constexpr (std::is_same_v<T, bfloat16_t>)
    return ElementType::bfloat16;
  else if constexpr (std::is_same_v<T, float16_t>)
    return ElementType::float16;
  else
    return ElementType::float32;
}

/// q or out: [tokens, heads, dim].
template <class Pointer>
struct Heads {
  Pointer data;
  std::int64_t stride[3];
  ElementType type;

  __device__ __forceinline__ std::int64_t offset(std::int64_t token, int head) const {
    return token * stride[0] + head * stride[1];
  }
};

template <class Pointer, class View>
Heads<Pointer> heads(const View& v) {
  return {v.data(),
          {static_cast<std::int64_t>(v.stride(0)), static_cast<std::int64_t>(v.stride(1)),
           static_cast<std::int64_t>(v.stride(2))},
          element_type<typename View::non_const_value_type>()};
}

template <class Scalar>
__device__ __forceinline__ Scalar load_widened(const Heads<const void*>& from, std::int64_t at) {
  if constexpr (num::Symbolic<Scalar>) {
    return static_cast<const Scalar*>(from.data)[at];
  } else {
    switch (from.type) {
      case ElementType::bfloat16: return num::widen(static_cast<const bfloat16_t*>(from.data)[at]);
      case ElementType::float16: return num::widen(static_cast<const float16_t*>(from.data)[at]);
      default: return static_cast<const float*>(from.data)[at];
    }
  }
}

template <class Scalar>
__device__ __forceinline__ void store_narrowed(const Heads<void*>& to, std::int64_t at, Scalar x) {
  if constexpr (num::Symbolic<Scalar>) {
    static_cast<Scalar*>(to.data)[at] = num::narrow<Scalar>(x);
  } else {
    switch (to.type) {
      case ElementType::bfloat16: static_cast<bfloat16_t*>(to.data)[at] = num::narrow<bfloat16_t>(x); break;
      case ElementType::float16: static_cast<float16_t*>(to.data)[at] = num::narrow<float16_t>(x); break;
      default: static_cast<float*>(to.data)[at] = num::narrow<float>(x);
    }
  }
}

/// Keys or values: [pages, positions of a page, KV heads, dim].
template <class T>
struct Cache {
  const T* data;
  std::int64_t page, position, head, element;  // strides
  bool vectors;                                // every head's row begins at a multiple of 16 bytes and is dense
};

template <class View>
auto cache(const View& v) {
  using T = typename View::non_const_value_type;
  Cache<T> c{v.data(),
             static_cast<std::int64_t>(v.stride(0)),
             static_cast<std::int64_t>(v.stride(1)),
             static_cast<std::int64_t>(v.stride(2)),
             static_cast<std::int64_t>(v.stride(3)),
             false};
  const auto aligned = [](std::int64_t stride, std::uint64_t extent) {
    return extent <= 1 || stride * static_cast<std::int64_t>(sizeof(T)) % 16 == 0;
  };
  c.vectors = !num::Symbolic<T> && reinterpret_cast<std::uintptr_t>(c.data) % 16 == 0 &&
              (c.element == 1 || v.extent(3) <= 1) && aligned(c.page, v.extent(0)) &&
              aligned(c.position, v.extent(1)) && aligned(c.head, v.extent(2));
  return c;
}

/// A call, and how its rows are cut into tiles. A row is (token, query head of the KV head's group).
template <class Scalar, class K, class V>
struct Arguments {
  Heads<const void*> q;
  Heads<void*> out;
  Cache<K> k;
  Cache<V> v;
  Integers query_begin, kv_length, page_table;
  bool paged, causal;
  int page_size;  ///< of a cache without pages: its capacity
  int capacity;
  int kv_heads, group, head_dim, value_dim;
  std::int64_t requests, tokens;
  Scalar scale_log2;

  int value_spread;  ///< exponent: neighbouring threads that copy a row of values together

  int tile_tokens;           ///< tokens of a tile
  int tile_heads;            ///< query heads of a tile
  int head_tiles;            ///< tiles side by side that cover a group
  std::int64_t first_tile;   ///< of this launch
  std::int64_t tiles;        ///< of this launch
  std::int64_t first_token;  ///< of this launch
  int splits;                ///< 0: a block takes all splits of its tile; else one each, of so many
  Scalar* total;             ///< splits = 0: a block's outputs between two splits
  Scalar* partial;           ///< splits > 0: outputs, [rows of the launch, splits, value_dim]
  Scalar* sums;              ///< splits > 0: maximum and sum, [rows of the launch, splits, 2]
};

/// The first index of the ascending list [0, count) whose entry exceeds `bound`; a whole warp calls and looks at 32
/// entries at a time.
__device__ __forceinline__ std::int64_t first_above(const Integers& list, std::int64_t count, std::int64_t bound) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  std::int64_t low = 0;
  std::int64_t high = count;
  while (low < high) {
    const std::int64_t step = (high - low + 31) / 32;
    const std::int64_t probe = low + (lane + 1) * step - 1;
    const int below = __popc(__ballot_sync(0xffffffffu, probe < high && list(probe) <= bound));
    const std::int64_t stop = low + (below + 1) * step - 1;
    low += below * step;
    high = high < stop ? high : stop;
  }
  return low;
}

/// Neighbouring tokens of one request, or of none, and what they see: a token further on sees one position more.
struct Part {
  std::int64_t request;  ///< −1: none
  std::int64_t end;      ///< one past the last token
  int seen;              ///< visible positions of the first token; negative where it stands before the sequence
  int step;              ///< more of them for each further token

  /// Visible positions of the token `i` places behind the first.
  __device__ __forceinline__ int visible(int i) const {
    const int n = seen + i * step;
    return n < 0 ? 0 : n;
  }
};

/// The tokens from `token` on, to `end` at most.
template <class Scalar, class K, class V>
__device__ __forceinline__ Part part_at(const Arguments<Scalar, K, V>& a, std::int64_t token, std::int64_t end) {
  const std::int64_t above = first_above(a.query_begin, a.requests + 1, token);
  Part part{above > a.requests ? -1 : above - 1, end, 0, 0};
  if (above <= a.requests) {
    const std::int64_t stop = a.query_begin(above);
    if (stop < end) part.end = stop;
    if (part.request >= 0) {
      const std::int64_t given = a.kv_length(part.request);
      const std::int64_t length = given < a.capacity ? given : a.capacity;
      // The request's last query stands at the sequence's last position.
      const std::int64_t seen = a.causal ? length - (stop - 1 - token) : length;
      part.seen = seen < -0x40000000 ? -0x40000000 : static_cast<int>(seen);
      part.step = a.causal ? 1 : 0;
    }
  }
  return part;
}

}  // namespace invar::backends::cuda::attn

#endif
