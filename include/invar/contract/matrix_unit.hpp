// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The arithmetic of matrix units (tensor cores), named by the numbers that fix its bits. Types only; the software
/// model is in num/matrix_unit.hpp.
#ifndef INVAR_CONTRACT_MATRIX_UNIT_HPP
#define INVAR_CONTRACT_MATRIX_UNIT_HPP

#include <string>

namespace invar::contract {

/// What a matrix unit reads.
enum class Operands {
  bits16,  ///< both bfloat16_t, or both float16_t
  tf32,    ///< float, of which the 13 low fraction bits are dropped
  fp8      ///< e4m3 or e5m2, in any pairing
};

/// The truncated fused dot product: how NVIDIA's units add Group products to a float accumulator. Per group:
///
/// 1. Products are exact. A product's exponent is the sum of its operands' exponents, and its significand, below 4, is
///    not normalised. Subnormal operands keep their format's lowest exponent and a significand below 1.
/// 2. E is the largest exponent among the products and the accumulator, where a zero has ZeroExponent.
/// 3. Every product and the accumulator are cut toward zero to a multiple of 2^(E − AlignmentBits).
/// 4. These are added exactly, so their order cannot reach the bits.
/// 5. The sum is cut toward zero to ResultBits fraction bits of a float. Subnormals are kept; 2^128 and more become
///    infinity; a sum of exactly 0, or cut to 0, is +0, whatever the signs of its terms.
/// 6. An infinite operand or accumulator gives that infinity. NaN, 0·∞ and ∞ − ∞ give the NaN 0x7fffffff, which an
///    operation makes canonical like any other.
///
/// The rules are those of "Bit-accurate modeling of GPU matrix multiply-accumulate units" (arXiv 2511.10909) and, found
/// independently for ordinary magnitudes, of "Accurate models of NVIDIA tensor cores" (arXiv 2512.07004). That what is
/// cut to 0 is +0 was found on an H200, which has all rules of the units named after Hopper (tests/cuda/matrix_unit).
///
/// \tparam Format         the operands
/// \tparam Group          products that are added at once
/// \tparam AlignmentBits  fraction bits that are kept below the largest exponent
/// \tparam ResultBits     fraction bits of the result; 23 is all that a float has
/// \tparam ZeroExponent   exponent of a zero; it reaches the bits only where acc is 0 and all products are smaller
template <Operands Format, int Group, int AlignmentBits, int ResultBits = 23, int ZeroExponent = -133>
struct TruncatedFusedDot {
  static_assert(Group > 0 && (Group & (Group - 1)) == 0,
                "Invar: contract::TruncatedFusedDot: Group must be a power of two");
  static_assert(AlignmentBits > 0 && ResultBits > 0 && ResultBits <= 23,
                "Invar: contract::TruncatedFusedDot: a float's fraction has 23 bits");
  static_assert(ZeroExponent < -126,
                "Invar: contract::TruncatedFusedDot: ZeroExponent must lie below float's exponents");
  static constexpr Operands operands = Format;
  static constexpr int operand_bytes = Format == Operands::bits16 ? 2 : Format == Operands::tf32 ? 4 : 1;
  static constexpr int group = Group;
  static constexpr int alignment_bits = AlignmentBits;
  static constexpr int result_bits = ResultBits;
  static constexpr int zero_exponent = ZeroExponent;
  static std::string name() {
    const char* const format = Format == Operands::bits16 ? "16bit" : Format == Operands::tf32 ? "tf32" : "fp8";
    return std::string("truncated_fused_dot<") + format + "," + std::to_string(Group) + "," +
           std::to_string(AlignmentBits) + "," + std::to_string(ResultBits) + "," + std::to_string(ZeroExponent) + ">";
  }
};

/// Hopper, `wgmma` of every width and `mma.sync` m16n8k16; bfloat16 and float16 alike. Blackwell has the same numbers.
using Hopper16Bit = TruncatedFusedDot<Operands::bits16, 16, 25>;
/// Hopper, `wgmma` and `mma.sync` m16n8k8 of tf32. Blackwell has the same numbers.
using HopperTf32 = TruncatedFusedDot<Operands::tf32, 8, 25>;
/// Hopper, `wgmma` of e4m3 and e5m2. `mma.sync` of fp8 goes another way there and has other bits.
using HopperFp8 = TruncatedFusedDot<Operands::fp8, 32, 13, 13>;
/// Ampere and Ada, `mma.sync` m16n8k8 and, as two groups, m16n8k16.
using Ampere16Bit = TruncatedFusedDot<Operands::bits16, 8, 24, 23, -132>;
/// Ampere and Ada, `mma.sync` m16n8k4 and, as two groups, m16n8k8 of tf32.
using AmpereTf32 = TruncatedFusedDot<Operands::tf32, 4, 24, 23, -132>;
/// Ada, `mma.sync` m16n8k32 of e4m3 and e5m2, as two groups.
using AdaFp8 = TruncatedFusedDot<Operands::fp8, 16, 13, 13, -132>;

template <class T>
inline constexpr bool is_matrix_unit_v = false;
template <Operands Format, int Group, int AlignmentBits, int ResultBits, int ZeroExponent>
inline constexpr bool is_matrix_unit_v<TruncatedFusedDot<Format, Group, AlignmentBits, ResultBits, ZeroExponent>> =
    true;

}  // namespace invar::contract

namespace invar {
// The short names, as a contract spells them: contract::Matmul<hopper_16bit>.
using hopper_16bit = contract::Hopper16Bit;
using hopper_tf32 = contract::HopperTf32;
using hopper_fp8 = contract::HopperFp8;
using ampere_16bit = contract::Ampere16Bit;
using ampere_tf32 = contract::AmpereTf32;
using ada_fp8 = contract::AdaFp8;
}  // namespace invar

#endif
