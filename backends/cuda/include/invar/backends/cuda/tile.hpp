// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// A few neighbouring elements of a row in a thread's registers, loaded and stored 16 bytes at a time where the address
/// allows it.
#ifndef INVAR_BACKENDS_CUDA_TILE_HPP
#define INVAR_BACKENDS_CUDA_TILE_HPP

#include <invar/config.hpp>
#include <invar/tree/elements.hpp>
#include <invar/tree/outputs.hpp>

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace invar::backends::cuda {

/// V elements of type T in whole registers.
template <class T, int V>
class Pack {
  static constexpr int bytes = V * static_cast<int>(sizeof(T));
  static constexpr int step = bytes % 16 == 0 ? 16 : bytes % 8 == 0 ? 8 : bytes % 4 == 0 ? 4 : 2;
  static constexpr int words = (bytes + 3) / 4;

 public:
  /// True where V elements from this address on can be moved in whole words.
  KOKKOS_FORCEINLINE_FUNCTION static bool fits(const T* address) {
    return reinterpret_cast<std::uintptr_t>(address) % step == 0;
  }
  KOKKOS_FORCEINLINE_FUNCTION void load(const T* address) {
    INVAR_UNROLL
    for (int i = 0; i < bytes; i += step) {
      const void* const from = reinterpret_cast<const char*>(address) + i;
      std::uint32_t* const to = word_ + i / 4;
      if constexpr (step == 16) {
        const uint4 w = *static_cast<const uint4*>(from);
        to[0] = w.x, to[1] = w.y, to[2] = w.z, to[3] = w.w;
      } else if constexpr (step == 8) {
        const uint2 w = *static_cast<const uint2*>(from);
        to[0] = w.x, to[1] = w.y;
      } else if constexpr (step == 4) {
        to[0] = *static_cast<const std::uint32_t*>(from);
      } else {
        to[0] = *static_cast<const std::uint16_t*>(from);
      }
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION void store(T* address) const {
    INVAR_UNROLL
    for (int i = 0; i < bytes; i += step) {
      void* const to = reinterpret_cast<char*>(address) + i;
      const std::uint32_t* const w = word_ + i / 4;
      if constexpr (step == 16)
        *static_cast<uint4*>(to) = make_uint4(w[0], w[1], w[2], w[3]);
      else if constexpr (step == 8)
        *static_cast<uint2*>(to) = make_uint2(w[0], w[1]);
      else if constexpr (step == 4)
        *static_cast<std::uint32_t*>(to) = w[0];
      else
        *static_cast<std::uint16_t*>(to) = static_cast<std::uint16_t>(w[0]);
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION T get(int v) const {
    if constexpr (sizeof(T) == 2) {
      return T::from_bits(static_cast<std::uint16_t>(word_[v / 2] >> (v % 2 * 16)));
    } else {
      T element;
      std::memcpy(&element, word_ + v * (sizeof(T) / 4), sizeof(T));
      return element;
    }
  }
  /// V values, each rounded to T.
  template <class Value>
  KOKKOS_FORCEINLINE_FUNCTION void set(const Value* values) {
    if constexpr (sizeof(T) == 2) {
      set_halves(values);
    } else {
      if constexpr (std::is_same_v<T, Value> && num::Ieee<T>) {
        // Whether there is a NaN to make canonical is asked once for all.
        bool has_nan = false;
        INVAR_UNROLL
        for (int v = 0; v < V; ++v) {
          has_nan = has_nan || values[v] != values[v];
          set_element(v, values[v]);
        }
        if (!has_nan) return;
      }
      INVAR_UNROLL
      for (int v = 0; v < V; ++v) set_element(v, num::narrow<T>(values[v]));
    }
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void set_element(int v, const T element) {
    std::memcpy(word_ + v * (sizeof(T) / 4), &element, sizeof(T));
  }

  template <class Value>
  KOKKOS_FORCEINLINE_FUNCTION void set_halves(const Value* values) {
#ifdef __CUDA_ARCH__
    if constexpr (V % 2 == 0 && std::is_same_v<Value, float>) {
      // The conversion of a pair makes every NaN 0x7fff, which is looked for once in all pairs: adding 1 to it, and to
      // no other positive number, sets the sign.
      std::uint32_t found = 0;
      INVAR_UNROLL
      for (int w = 0; w < words; ++w) {
        word_[w] = num::round_pair<T>(values[2 * w], values[2 * w + 1]);
        found |= (word_[w] + 0x00010001u) & ~word_[w];
      }
      if ((found & 0x80008000u) == 0) return;
    }
#endif
    INVAR_UNROLL
    for (int w = 0; w < words; ++w) {
      word_[w] = num::narrow<T>(values[2 * w]).bits;
      if (2 * w + 1 < V) word_[w] |= static_cast<std::uint32_t>(num::narrow<T>(values[2 * w + 1]).bits) << 16;
    }
  }

  std::uint32_t word_[words];
};

/// V neighbouring elements of an operand's row.
template <class Operand, int V>
class Tile {
  using storage_type = typename Operand::storage_type;

 public:
  /// True where every V-th column of the row begins an aligned run of V elements.
  KOKKOS_FORCEINLINE_FUNCTION static bool is_vector(const Operand& operand, std::int64_t row) {
    return operand.column_stride() == 1 && Pack<storage_type, V>::fits(operand.address(row, 0));
  }
  /// Columns i … i + V − 1 of a row for which is_vector holds.
  KOKKOS_FORCEINLINE_FUNCTION void load(const Operand& operand, std::int64_t row, std::int64_t i) {
    load(operand.address(row, i));
  }
  KOKKOS_FORCEINLINE_FUNCTION void load(const storage_type* address) { pack_.load(address); }
  KOKKOS_FORCEINLINE_FUNCTION void store(storage_type* address) const { pack_.store(address); }
  KOKKOS_FORCEINLINE_FUNCTION typename Operand::value_type get(int v) const { return num::widen(pack_.get(v)); }

 private:
  Pack<storage_type, V> pack_;
};

template <class H, class A, class B, int V>
class Tile<tree::RoundedSum<H, A, B>, V> {
  using Operand = tree::RoundedSum<H, A, B>;

 public:
  KOKKOS_FORCEINLINE_FUNCTION static bool is_vector(const Operand& operand, std::int64_t row) {
    return Tile<A, V>::is_vector(operand.a, row) && Tile<B, V>::is_vector(operand.b, row);
  }
  KOKKOS_FORCEINLINE_FUNCTION void load(const Operand& operand, std::int64_t row, std::int64_t i) {
    a_.load(operand.a, row, i);
    b_.load(operand.b, row, i);
  }
  KOKKOS_FORCEINLINE_FUNCTION typename Operand::value_type get(int v) const {
    return num::widen(Operand::rounded(a_.get(v), b_.get(v)));
  }

 private:
  Tile<A, V> a_;
  Tile<B, V> b_;
};

/// True where every row of an operand or output can be moved in vectors of V elements, as seen from the host.
template <int V>
struct IsVectorEverywhere {
  template <class Y>
  bool operator()(const tree::Output<Y>& out) const {
    return matrix(out.y);
  }
  template <class First, class Second>
  bool operator()(const tree::TwoOutputs<First, Second>& out) const {
    return (*this)(out.first) && (*this)(out.second);
  }
  template <class X>
  bool operator()(const tree::Elements<X>& operand) const {
    return matrix(operand.x);
  }
  template <class X>
  bool operator()(const tree::SharedRow<X>& operand) const {
    return operand.x.stride(0) == 1 && fits(operand.x);
  }
  template <class H, class A, class B>
  bool operator()(const tree::RoundedSum<H, A, B>& operand) const {
    return (*this)(operand.a) && (*this)(operand.b);
  }

 private:
  template <class X>
  static bool fits(const X& x) {
    return Pack<typename X::non_const_value_type, V>::fits(x.data());
  }
  template <class X>
  static bool matrix(const X& x) {
    using Bytes = Pack<typename X::non_const_value_type, V>;
    return x.stride(1) == 1 && fits(x) && (x.extent(0) <= 1 || Bytes::fits(x.data() + x.stride(0)));
  }
};

/// Stores V neighbouring values of a row.
template <int V, class Y>
KOKKOS_FORCEINLINE_FUNCTION bool stores_vector(const tree::Output<Y>& out, std::int64_t row) {
  return out.y.stride(1) == 1 && Pack<typename Y::value_type, V>::fits(&out.y(row, 0));
}
template <int V, class First, class Second>
KOKKOS_FORCEINLINE_FUNCTION bool stores_vector(const tree::TwoOutputs<First, Second>& out, std::int64_t row) {
  return stores_vector<V>(out.first, row) && stores_vector<V>(out.second, row);
}
template <int V, class Y, class Value>
KOKKOS_FORCEINLINE_FUNCTION void store_vector(const tree::Output<Y>& out, std::int64_t row, std::int64_t i,
                                              const Value* values) {
  Pack<typename Y::value_type, V> pack;
  pack.set(values);
  pack.store(&out.y(row, i));
}
template <int V, class First, class Second, class Value>
KOKKOS_FORCEINLINE_FUNCTION void store_vector(const tree::TwoOutputs<First, Second>& out, std::int64_t row,
                                              std::int64_t i, const Value* values) {
  decltype(values[0].first) first[V], second[V];
  INVAR_UNROLL
  for (int v = 0; v < V; ++v) {
    first[v] = values[v].first;
    second[v] = values[v].second;
  }
  store_vector<V>(out.first, row, i, first);
  store_vector<V>(out.second, row, i, second);
}

/// A thread's next few vectors of one operand, loaded together so that their latencies overlap.
template <class Operand, int V, int Count>
struct Tiles {
  Tile<Operand, V> tile[Count];

  KOKKOS_FORCEINLINE_FUNCTION void load(const Operand& operand, std::int64_t row, std::int64_t i, std::int64_t step,
                                        std::int64_t end) {
    INVAR_UNROLL
    for (int t = 0; t < Count; ++t)
      if (i + t * step < end) tile[t].load(operand, row, i + t * step);
  }
};

template <int V, int Count, class F, class Out, class... Operand>
KOKKOS_FORCEINLINE_FUNCTION void map_tiles(std::int64_t row, std::int64_t i, std::int64_t step, std::int64_t end,
                                           const F& f, const Out& out, const Tiles<Operand, V, Count>&... tiles) {
  INVAR_UNROLL
  for (int t = 0; t < Count; ++t)
    if (i + t * step < end) {
      decltype(f(tiles.tile[t].get(0)...)) values[V];
      INVAR_UNROLL
      for (int v = 0; v < V; ++v) values[v] = f(tiles.tile[t].get(v)...);
      store_vector<V>(out, row, i + t * step, values);
    }
}

/// Stores f(operands...) in the columns of one row, with `threads` threads of which this is number `thread`.
template <class F, class Out, class... Operand>
KOKKOS_FUNCTION void map_columns(std::int64_t row, std::int64_t columns, std::int64_t thread, std::int64_t threads,
                                 const F& f, const Out& out, const Operand&... operand) {
  constexpr int bytes = tree::narrowest<Out, Operand...>();
  constexpr int V = bytes >= 16 ? 1 : 16 / bytes;
  constexpr int count = 4;
  std::int64_t done = 0;
  if (stores_vector<V>(out, row) && (... && Tile<Operand, V>::is_vector(operand, row))) {
    done = columns / V * V;
    const std::int64_t step = threads * V;
    INVAR_NO_UNROLL
    for (std::int64_t i = thread * V; i < done; i += count * step) {
      const auto loaded = [&](const auto& x) {
        Tiles<std::decay_t<decltype(x)>, V, count> tiles;
        tiles.load(x, row, i, step, done);
        return tiles;
      };
      map_tiles<V, count>(row, i, step, done, f, out, loaded(operand)...);
    }
  }
  INVAR_NO_UNROLL
  for (std::int64_t j = done + thread; j < columns; j += threads) out.store(row, j, f(operand(row, j)...));
}

}  // namespace invar::backends::cuda

#endif
