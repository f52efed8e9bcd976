// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Rotary position embedding.
#ifndef INVAR_OP_ROPE_HPP
#define INVAR_OP_ROPE_HPP

#if !defined(__CUDACC__)
#include <invar/backends/host/rope.hpp>
#endif
#include <invar/contract/defaults.hpp>
#include <invar/num/arithmetic.hpp>
#include <invar/num/cos.hpp>
#include <invar/num/sin.hpp>
#include <invar/num/types.hpp>
#include <invar/tree/launch_elements.hpp>
#include <invar/view.hpp>

#include <cstdint>
#include <string>
#include <type_traits>

namespace invar {

/// Which two elements of a head form a pair.
enum class RopePairs {
  adjacent,  ///< 2i and 2i + 1, as the paper has it and GGUF files of the llama architecture store it
  halves     ///< i and i + pairs, as Hugging Face and GPT-NeoX store it
};

namespace detail {

template <class Y, class X, class Positions, class Frequencies>
struct Rope {
  static constexpr int element_bytes = sizeof(typename X::value_type);
  using scalar = num::accumulator_t<typename X::non_const_value_type>;
  Y y;
  X x;
  Positions positions;
  Frequencies frequencies;
  RopePairs pairs;
  std::int64_t heads;

  /// A column is a pair of every head, or an element that is in none.
  std::int64_t columns() const {
    return static_cast<std::int64_t>(x.extent(2)) - static_cast<std::int64_t>(frequencies.extent(0));
  }

  template <class Line>
  KOKKOS_FUNCTION void operator()(std::int64_t token, const Line& line) const {
    const auto count = static_cast<std::int64_t>(frequencies.extent(0));
#if !defined(__CUDACC__)
    if constexpr (num::Ieee<scalar> && std::is_same_v<Line, backends::host::SequentialColumns>) {
      if constexpr (backends::host::in_register_v<scalar>) return rotate_vectors(token, count);
    }
#endif
    line.for_each([&](std::int64_t i) {
      if (i < count)
        rotate(token, i, count);
      else
        for (std::int64_t h = 0; h < heads; ++h) store(token, h, count + i, load(token, h, count + i));
    });
  }

 private:
#if !defined(__CUDACC__)
  void rotate_vectors(std::int64_t token, std::int64_t count) const {
    using namespace backends::host;
    const auto angles = [&](std::int64_t i, auto part) {
      using V = Vector<scalar>;
      const std::int64_t stride = tree::has_unit_stride_v<Frequencies> ? 1 : frequencies.stride(0);
      return mul(V::fill(static_cast<scalar>(positions(token))), load_from<V>(&frequencies(i), stride, part));
    };
    const TokenHeads<Y, X> token_heads(y, x, token);
    if (pairs == RopePairs::adjacent)
      token_heads.rotate_adjacent(count, angles);
    else
      token_heads.rotate_halves(count, angles);
    token_heads.copy_from(2 * count);
  }
#endif
  KOKKOS_FUNCTION void rotate(std::int64_t token, std::int64_t i, std::int64_t count) const {
    const scalar angle = num::mul(static_cast<scalar>(positions(token)), scalar(frequencies(i)));
    const scalar c = num::cos(angle);
    const scalar s = num::sin(angle);
    const std::int64_t first = pairs == RopePairs::adjacent ? 2 * i : i;
    const std::int64_t second = pairs == RopePairs::adjacent ? 2 * i + 1 : i + count;
    for (std::int64_t h = 0; h < heads; ++h) {
      const scalar a = load(token, h, first);
      const scalar b = load(token, h, second);
      store(token, h, first, num::fma(a, c, num::negate(num::mul(b, s))));
      store(token, h, second, num::fma(b, c, num::mul(a, s)));
    }
  }
  KOKKOS_FUNCTION scalar load(std::int64_t token, std::int64_t head, std::int64_t d) const {
    return num::widen(typename X::non_const_value_type(x(token, head, d)));
  }
  KOKKOS_FUNCTION void store(std::int64_t token, std::int64_t head, std::int64_t d, scalar value) const {
    y(token, head, d) = num::narrow<typename Y::value_type>(value);
  }
};

}  // namespace detail

/// Rotates the pairs (a, b) of each head by the angle θ = position·frequency(i), rounded to float:
/// a' = fma(a, cos θ, −(b·sin θ)), b' = fma(b, cos θ, a·sin θ), the inner products rounded. Elements behind the pairs
/// are copied. (Su et al., 2021.)
///
/// \tparam Contract  contract::Elementwise<ieee>
/// \param exec  runs asynchronously in this instance
/// \param y     [tokens, heads, head_dim], any supported type; may be x itself. [out]
/// \param x     [tokens, heads, head_dim]; float, bfloat16_t or float16_t, widened to float. [in]
/// \param positions    [tokens], integers; exact as float up to 2^24. [in]
/// \param frequencies  [pairs], float, radians per position; at most head_dim/2 of them. num::rope_inverse_frequency
///                     gives base^(−2i/d) with the same bits everywhere. [in]
/// \param pairs     which elements form a pair
/// \param schedule  one of schedule::elementwise_table (an item is a token), or null to let the shape choose
/// \throws invar::error  on wrong extents, or where y overlaps an input without being x
template <class Contract = contract::DefaultElementwise, ExecutionSpace Exec, ViewOfRank<3> Y, ViewOfRank<3> X,
          ViewOfRank<1> Positions, ViewOfRank<1> Frequencies>
void rope(const Exec& exec, const Y& y, const X& x, const Positions& positions, const Frequencies& frequencies,
          RopePairs pairs, const schedule::Elementwise* schedule = nullptr) {
  static_assert(contract::is_elementwise_v<Contract>, "Invar: rope takes a contract::Elementwise");
  static_assert(std::is_integral_v<typename Positions::non_const_value_type>, "Invar: rope: positions holds integers");
  static_assert(std::is_same_v<typename Frequencies::non_const_value_type, float>,
                "Invar: rope: frequencies holds float");
  using namespace detail;
  check_output<Exec>("rope", "y", y);
  check_input<Exec, X>();
  check_view<Exec, Positions>();
  check_view<Exec, Frequencies>();
  for (int d = 0; d < 3; ++d) require_extent("rope", "y", y, d, x.extent(d));
  require_extent("rope", "positions", positions, 0, x.extent(0));
  if (2 * frequencies.extent(0) > x.extent(2))
    throw error("rope", "frequencies extent 0", "at most half of head_dim " + std::to_string(x.extent(2)),
                std::to_string(frequencies.extent(0)));
  require_disjoint_or_same("rope", "y", y, "x", x);
  require_disjoint("rope", "y", y, "positions", positions);
  require_disjoint("rope", "y", y, "frequencies", frequencies);
  const Rope<Y, X, Positions, Frequencies> body{y,           x,     positions,
                                                frequencies, pairs, static_cast<std::int64_t>(x.extent(1))};
  tree::launch_elements("Invar::rope", exec, static_cast<std::int64_t>(x.extent(0)), body.columns(), schedule, body);
}

}  // namespace invar

#endif
