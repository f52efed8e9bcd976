// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rules of contract::TruncatedFusedDot one at a time: operands that reach a rule, and the bits that it gives.
#ifndef INVAR_TESTS_SUPPORT_MATRIX_UNIT_CORNERS_HPP
#define INVAR_TESTS_SUPPORT_MATRIX_UNIT_CORNERS_HPP

#include "support/matrix_unit_data.hpp"

#include <invar/num/matrix_unit.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace invar::test {

/// a·b + c and its bits. a and b begin with a group of the unit; zeros follow.
template <class A, class B>
struct UnitCorner {
  std::string rule;
  std::vector<A> a;
  std::vector<B> b;
  float c;
  std::uint32_t expected;
};

/// The corners of a unit with operands of these types.
template <class Unit, class A, class B>
class UnitCorners {
 public:
  static std::vector<UnitCorner<A, B>> list() {
    UnitCorners corners;
    corners.alignment();
    corners.zeros();
    corners.accumulators();
    corners.operands_that_are_nan();
    if constexpr (num::OperandFormat<A>::has_infinity && num::OperandFormat<B>::has_infinity) corners.infinities();
    if constexpr (is_wide) {
      corners.cut_to_zero();
      corners.overflow();
      corners.zero_exponent();
    }
    if constexpr (std::is_same_v<A, float>) corners.tf32();
    if constexpr (Unit::operands == contract::Operands::fp8) corners.fp8();
    return corners.list_;
  }

 private:
  static constexpr bool is_wide = num::OperandFormat<A>::bias == 127;  ///< products reach float's ends
  static constexpr bool keeps_all = Unit::result_bits == 23;
  static constexpr int bits_kept = Unit::alignment_bits;
  static constexpr std::uint32_t unit_nan = 0x7fffffffu, inf = 0x7f800000u, minus_inf = 0xff800000u;
  static constexpr std::uint32_t last_bit = 1u << (23 - Unit::result_bits);
  static constexpr float infinity = HUGE_VALF;

  std::vector<UnitCorner<A, B>> list_;

  static std::uint32_t bits(float x) { return num::to_bits(x); }
  static float value(std::uint32_t b) { return num::from_bits<float>(b); }
  static float power(int e) { return std::ldexp(1.0f, e); }

  void add(const char* rule, const std::vector<float>& a, const std::vector<float>& b, float c,
           std::uint32_t expected) {
    UnitCorner<A, B> corner{rule, {}, {}, c, expected};
    for (const float x : a) corner.a.push_back(A(x));
    for (const float x : b) corner.b.push_back(B(x));
    list_.push_back(corner);
  }

  void alignment() {
    // 2^-bits and 2^-(bits + 1) as products.
    const float p = power(-(bits_kept + 1) / 2), q = power(-bits_kept / 2), r = power(-(bits_kept + 2) / 2);
    const std::uint32_t below_one = bits(1.0f) - (keeps_all ? 1u : 0x800u);
    add("the last alignment bit is kept", {-p}, {q}, 1.0f, below_one);
    add("what lies below the last alignment bit is cut", {-p}, {bits_kept % 2 ? p : r}, 1.0f, bits(1.0f));
    add("the accumulator is cut as the products are", {1.0f}, {1.0f}, -power(-bits_kept), below_one);
    add("the accumulator is cut as the products are", {1.0f}, {1.0f}, -power(-bits_kept - 1), bits(1.0f));
    add("products are not normalised", {1.5f, -p}, {1.5f, q}, 0.0f, bits(2.25f) - last_bit);
    add("results are cut toward zero", {-1.5f, p}, {1.5f, q}, 0.0f, bits(-2.25f) - last_bit);
    const int lowest = 1 - num::OperandFormat<A>::bias, raised = is_wide ? 100 : 0;
    const int smallest = lowest - num::OperandFormat<A>::fraction_bits;
    add("subnormal operands keep their format's lowest exponent", {power(smallest)}, {power(raised)},
        power(lowest + raised - bits_kept - 1), bits(power(smallest + raised)));
    if constexpr (!is_wide)
      add("subnormal operands are kept", {-power(smallest)},
          {power(1 - num::OperandFormat<B>::bias - num::OperandFormat<B>::fraction_bits)}, 0.0f,
          bits(-power(smallest + 1 - num::OperandFormat<B>::bias - num::OperandFormat<B>::fraction_bits)));
    // Five terms over the whole group, of which the two largest cancel.
    if constexpr (Unit::group >= 8 && !std::is_same_v<A, float8_e4m3_t> && !std::is_same_v<B, float8_e4m3_t>) {
      constexpr int last = Unit::group - 1;
      std::vector<float> a(Unit::group, 0.0f), b(Unit::group, 0.0f);
      const float x[5] = {4096, 0.5f, 0.5f, 0.125f, 4096}, y[5] = {2048, -1, -0.5f, -1, -2048};
      for (int i = 0; i < 5; ++i) {
        a[i * last / 4] = x[i];
        b[i * last / 4] = y[i];
      }
      add("a group is one sum", a, b, 0.0f, bits(bits_kept == 25 ? -0.75f : bits_kept == 24 ? -0.5f : 0.0f));
    }
  }

  void zeros() {
    add("zeros make +0 of a −0", {}, {}, -0.0f, 0u);
    add("zeros make +0 of a −0", {-0.0f, 0.0f}, {1.0f, -1.0f}, -0.0f, 0u);
    add("zeros keep +0", {-0.0f, 0.0f}, {1.0f, -1.0f}, 0.0f, 0u);
    add("terms that cancel give +0", {1.0f, -1.0f}, {3.0f, 3.0f}, -0.0f, 0u);
    add("terms that cancel give +0", {1.0f}, {3.0f}, -3.0f, 0u);
    add("terms that cancel give +0", {-1.0f}, {3.0f}, 3.0f, 0u);
    if constexpr (keeps_all)
      for (const std::uint32_t c : {0x00000001u, 0x80000001u, 0x807ffffeu, 0x00800000u, 0x7f7fffffu, 0xbf800000u})
        add("zeros keep any other accumulator", {}, {}, value(c), c);
  }

  void accumulators() {
    for (const std::uint32_t nan : {0x7fc00000u, 0xffc00000u, 0x7f800001u, 0xff800001u, 0xffffffffu}) {
      add("a NaN accumulator gives 7fffffff", {1.0f}, {1.0f}, value(nan), unit_nan);
      add("a NaN accumulator gives 7fffffff", {}, {}, value(nan), unit_nan);
    }
    for (const std::uint32_t c : {inf, minus_inf}) {
      add("an infinite accumulator stays", {1.0f}, {1.0f}, value(c), c);
      add("an infinite accumulator stays", {}, {}, value(c), c);
    }
    add("a small product is lost beside the largest accumulator", {1.0f}, {1.0f}, value(0x7f7fffffu),
        0x7f800000u - last_bit);
  }

  /// NaN of both signs whose payload is one bit, or all of them.
  template <class T>
  static std::vector<T> some_nan() {
    using F = num::OperandFormat<T>;
    constexpr std::uint32_t fraction = (1u << F::fraction_bits) - 1, sign = 1u << (F::width - 1);
    std::vector<T> list;
    for (int bit = 0; bit <= F::fraction_bits; ++bit)
      for (const std::uint32_t top : {0u, sign}) {
        const std::uint32_t payload = bit < F::fraction_bits ? 1u << bit : fraction;
        const T x = unit_element<T>(top | ((sign - 1) & ~fraction) | payload, 0);
        if (num::is_nan_operand(x)) list.push_back(x);
      }
    return list;
  }

  void operands_that_are_nan() {
    for (const A x : some_nan<A>()) {
      list_.push_back({"a NaN operand gives 7fffffff", {x}, {B(1.0f)}, 1.0f, unit_nan});
      list_.push_back({"NaN times 0 gives 7fffffff", {x}, {B(0.0f)}, 1.0f, unit_nan});
    }
    for (const B y : some_nan<B>())
      list_.push_back({"a NaN operand gives 7fffffff", {A(-1.0f)}, {y}, -infinity, unit_nan});
  }

  void infinities() {
    add("an infinite operand gives its infinity", {infinity}, {2.0f}, 1.0f, inf);
    add("an infinite operand gives its infinity", {infinity}, {-2.0f}, 1.0f, minus_inf);
    add("an infinite operand gives its infinity", {-infinity, 1.0f, infinity}, {-2.0f, 1.0f, 3.0f}, infinity, inf);
    add("an infinite operand gives its infinity", {infinity}, {-infinity}, 1.0f, minus_inf);
    add("an infinite operand gives its infinity", {-infinity},
        {power(1 - num::OperandFormat<B>::bias - num::OperandFormat<B>::fraction_bits)}, 0.0f, minus_inf);
    add("infinity times 0 gives 7fffffff", {infinity}, {0.0f}, 1.0f, unit_nan);
    add("infinity times 0 gives 7fffffff", {-0.0f}, {infinity}, infinity, unit_nan);
    add("infinity less infinity gives 7fffffff", {infinity, infinity}, {1.0f, -1.0f}, 1.0f, unit_nan);
    add("infinity less infinity gives 7fffffff", {infinity}, {1.0f}, -infinity, unit_nan);
  }

  void cut_to_zero() {
    const char* const rule = "a sum cut to zero is +0";
    add(rule, {0x1p-75f}, {0x1.8p-75f}, 0.0f, 0u);
    add(rule, {-0x1p-75f}, {0x1.8p-75f}, 0.0f, 0u);
    add(rule, {-0x1p-75f}, {0x1.8p-75f}, -0.0f, 0u);
    add(rule, {-0x1.8p-75f}, {0x1p-74f}, 0x1p-149f, 0u);
    add(rule, {0x1.8p-75f}, {0x1p-74f}, -0x1p-149f, 0u);
    add("subnormal results are cut toward zero", {0x1.8p-75f}, {0x1p-74f}, 0.0f, 1u);
    add("subnormal results are cut toward zero", {-0x1.8p-75f}, {0x1p-74f}, 0.0f, 0x80000001u);
    add("terms that are cut to zero give +0", {-0x1p-133f}, {0x1p-133f}, 0.0f, 0u);
    add("terms that are cut to zero give +0", {-0x1p-133f}, {0x1p-133f}, -0.0f, 0u);
  }

  void overflow() {
    add("2^128 is infinity, though results are cut", {0x1p64f}, {0x1p64f}, 0.0f, inf);
    add("2^128 is infinity, though results are cut", {-0x1p64f}, {0x1p64f}, 0.0f, minus_inf);
    add("2^128 is infinity, though results are cut", {0x1p127f}, {0x1p127f}, -0x1p127f, inf);
    add("2^128 is infinity, though results are cut", {0x1p104f}, {1.0f}, 0x1.fffffep127f, inf);
    add("2^128 is infinity, though results are cut", {-0x1p104f}, {1.0f}, -0x1.fffffep127f, minus_inf);
    add("below 2^128 results are finite", {0x1p103f, 0x1p101f}, {1.0f, 0x1.fcp0f}, 0x1.fffffep127f, 0x7f7fffffu);
    add("below 2^128 results are finite", {-0x1p103f}, {1.0f}, -0x1.fffffep127f, 0xff7fffffu);
    add("products of 2^128 and more are summed", {0x1p127f, -0x1p127f}, {0x1p127f, 0x1p127f}, 2.0f, 0u);
    add("products of 2^128 and more are summed", {0x1p64f, -0x1p64f}, {0x1p64f, 0x1.fcp63f}, 0.0f, bits(0x1p121f));
    add("products of 2^128 and more are summed", {-0x1p65f, 0x1p64f, 0x1p64f}, {0x1p64f, 0x1p64f, 0x1p64f}, 1.0f, 0u);
  }

  void zero_exponent() {
    const char* const rule = "zeros have an exponent";
    const float at = power((Unit::zero_exponent - bits_kept) / 2);  // at² is the last bit that they leave
    for (const float zero : {0.0f, -0.0f}) {
      add(rule, {0x1p-75f, -at}, {0x1p-74f, at}, zero, 0u);
      add(rule, {0x1p-75f, -at / 2}, {0x1p-74f, at}, zero, 1u);
      add(rule, {-0x1p-75f, at}, {0x1p-74f, at}, zero, 0u);
      add(rule, {-0x1p-75f, at / 2}, {0x1p-74f, at}, zero, 0x80000001u);
    }
    add("a zero has it whatever the other factor", {0x1p-75f, -at, 0.0f}, {0x1p-74f, at, 0x1p127f}, 0.0f, 0u);
    add("a zero has it whatever the other factor", {0x1p-75f, -at, 0x1p-126f}, {0x1p-74f, at, 0.0f}, 0.0f, 0u);
    // Beside a subnormal accumulator 2^-126 is the exponent.
    const float near = power(-63), far = power(-63 - bits_kept);
    add("a subnormal accumulator has the exponent −126", {-near}, {far}, 0x1p-149f, 0u);
    add("a subnormal accumulator has the exponent −126", {-near / 2}, {far}, 0x1p-149f, 1u);
  }

  void tf32() {
    const char* const rule = "a NaN whose payload lies in the dropped bits is an infinity";
    add(rule, {value(0x7f800001u)}, {2.0f}, 1.0f, inf);
    add(rule, {value(0xff801fffu)}, {2.0f}, 1.0f, minus_inf);
    add(rule, {2.0f}, {value(0x7f801000u)}, -1.0f, inf);
    add(rule, {value(0x7f800001u)}, {1.0f}, -infinity, unit_nan);
    add(rule, {value(0x7f800001u)}, {0.0f}, 1.0f, unit_nan);
    add("a NaN with payload above the dropped bits is NaN", {value(0x7f802000u)}, {2.0f}, 1.0f, unit_nan);
    add("the low 13 bits are dropped", {0x1.fffffep0f}, {0x1.001ffep0f}, 0, bits(0x1.ffcp0f));
    add("the low 13 bits are dropped", {-0x1.003ffep0f}, {1.0f}, 0, bits(-1.0f));
    add("subnormals of 10 bits are kept", {0x1p-136f}, {0x1p10f}, 0, bits(0x1p-126f));
    add("what is dropped from a subnormal leaves a zero", {-0x1p-137f}, {0x1p10f}, -0.0f, 0u);
    add("what is dropped from a subnormal leaves a zero", {0x1p-137f}, {infinity}, 1.0f, unit_nan);
  }

  void fp8() {
    for (const std::uint32_t c : {0x3fffffffu, 0xbf8003ffu, 0x7f7fffffu, 0x00800001u, 0x007fffffu, 0x80000400u})
      add("results have 13 fraction bits, subnormals too", {}, {}, value(c), c & 0xfffffc00u);
    add("a subnormal accumulator cut to zero gives +0", {}, {}, value(0x000003ffu), 0u);
    add("a subnormal accumulator cut to zero gives +0", {}, {}, value(0x800003ffu), 0u);
    add("e4m3 and e5m2 meet", {1.5f, -0.25f}, {1.25f, 2.0f}, 0.5f, bits(1.875f));
    // Two instructions: the first cuts 1 + 1.5·2^-13 to 1 + 2^-13, the second takes 1 away.
    std::vector<float> a(33, 0.0f), b(33, 0.0f);
    a[0] = b[0] = b[32] = 1.0f;
    a[32] = -1.0f;
    add("a chain is cut at every step", a, b, 0x1.8p-13f, bits(0x1p-13f));
    add("a chain is cut at every step", a, b, -0x1.8p-13f, bits(-0x1p-13f));
    add("a chain is cut at every step", a, b, 0x1p-149f, 0u);
  }
};

}  // namespace invar::test

#endif
