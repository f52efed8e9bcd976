// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The contract of attention.
#ifndef INVAR_CONTRACT_ATTENTION_HPP
#define INVAR_CONTRACT_ATTENTION_HPP

#include <invar/contract/arithmetic.hpp>

#include <string>

namespace invar::contract {

/// Online softmax over KV blocks and splits that begin at absolute multiples of Block and Split of the KV position,
/// for decode, chunked prefill and whole prefill alike. Per query row and head, with c = scale·log2(e) rounded:
///
/// 1. Score s_j: one chain fma(q_d, k_jd, ·) over ascending d from +0.
/// 2. Each split begins with m = −∞, l = 0, O = 0 and takes its blocks in ascending order, visible positions only:
///    m' = max(m, c·max_j s_j) with the product rounded; r = m', or 0 where m' is infinite;
///    alpha = exp2(m − r); p_j = exp2(fma(c, s_j, −r)).
/// 3. l is kept in 16 classes (u, t): u = which 32 positions of the block, t = (position mod 8)/2. A class adds its
///    even and its odd visible positions as two ascending chains from −0, adds the two, and then l = fma(l, alpha, sum).
/// 4. O_d = fma(p_j, v_jd, ·) over ascending visible j, from O_d·alpha rounded.
/// 5. At the split's end the classes are joined: (t0 + t1) + (t2 + t3) for each u, then (u0 + u1) + (u2 + u3)
///    for Block 128; in general a stride-doubling tree over u.
/// 6. The first split with a visible position starts the total; each later one, ascending, is folded in:
///    M = max(m, m_s), r as in 2, a = exp2(m − r), a_s = exp2(m_s − r), O = fma(O_s, a_s, O·a), l = fma(l_s, a_s, l·a).
/// 7. The output is O·(1/l), or +0 where l is zero or nothing is visible.
///
/// Keeping m already multiplied and rounded makes alpha exactly 1 when the maximum does not move.
///
/// \tparam Arithmetic  the roundings
/// \tparam Block       KV positions of a block; a power of two from 32
/// \tparam Split       KV positions of a split; a multiple of Block
template <class Arithmetic = Ieee, int Block = 128, int Split = 1024>
struct Attention {
  static_assert(is_arithmetic_v<Arithmetic>, "Invar: unknown arithmetic for contract::Attention; use invar::ieee");
  static_assert(Block >= 32 && (Block & (Block - 1)) == 0,
                "Invar: contract::Attention: Block must be a power of two, at least 32");
  static_assert(Split > 0 && Split % Block == 0, "Invar: contract::Attention: Split must be a multiple of Block");
  using arithmetic = Arithmetic;
  static constexpr int block = Block;
  static constexpr int split = Split;
  static std::string name() {
    return "attention<" + Arithmetic::name() + "," + std::to_string(Block) + "," + std::to_string(Split) + ">";
  }
};

template <class T>
inline constexpr bool is_attention_v = false;
template <class A, int Block, int Split>
inline constexpr bool is_attention_v<Attention<A, Block, Split>> = true;

}  // namespace invar::contract

#endif
