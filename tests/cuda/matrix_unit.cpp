// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The acceptance test of the matrix unit: every instruction against the software model, bit for bit at every output.
// What the device or the program lacks is skipped, and said so.
#include "support/environment.hpp"
#include "support/matrix_unit_data.hpp"
#include "support/matrix_unit_instructions.hpp"
#include "support/matrix_unit_rules.hpp"
#include "support/matrix_unit_tiles.hpp"

#include <doctest/doctest.h>

#include <invar/contract/matrix_unit.hpp>
#include <invar/num/matrix_unit.hpp>
#include <invar/reference/matrix_unit.hpp>
#include <invar/verify/host_copy.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <type_traits>
#include <vector>

using namespace invar;
using namespace invar::test;

namespace {

/// Types of operands, and Hopper's unit for them.
template <class A_, class B_, class Unit_>
struct Format {
  using A = A_;
  using B = B_;
  using Unit = Unit_;
};
using Bfloat16 = Format<bfloat16_t, bfloat16_t, hopper_16bit>;
using Float16 = Format<float16_t, float16_t, hopper_16bit>;
using Tf32 = Format<float, float, hopper_tf32>;
using E4m3 = Format<float8_e4m3_t, float8_e4m3_t, hopper_fp8>;
using E4m3E5m2 = Format<float8_e4m3_t, float8_e5m2_t, hopper_fp8>;
using E5m2E4m3 = Format<float8_e5m2_t, float8_e4m3_t, hopper_fp8>;
using E5m2 = Format<float8_e5m2_t, float8_e5m2_t, hopper_fp8>;

template <class F>
std::string name_of() {
  return type_name<typename F::A>() + " x " + type_name<typename F::B>();
}

/// Calls visit(unit, instruction) for every instruction of a format that can run here.
template <class F, class Visit>
void for_each_instruction(const Visit& visit) {
  using A = typename F::A;
  using B = typename F::B;
  const std::string name = name_of<F>();
  if constexpr (F::Unit::operands != contract::Operands::fp8) {
    using Ampere = std::conditional_t<F::Unit::operands == contract::Operands::tf32, ampere_tf32, ampere_16bit>;
    const int major = Execution().cuda_device_prop().major;
    if (major >= 9)
      visit(typename F::Unit{}, Mma<A>{});
    else if (major == 8)
      visit(Ampere{}, Mma<A>{});
    else
      std::printf("SKIP mma.sync of %s: compute capability %d has other instructions\n", name.c_str(), major);
  }
  if (const std::string why = why_no_wgmma(); !why.empty()) {
    std::printf("SKIP wgmma of %s: %s\n", name.c_str(), why.c_str());
    return;
  }
  visit(typename F::Unit{}, Wgmma<A, B, 8>{});
  visit(typename F::Unit{}, Wgmma<A, B, 16>{});
  visit(typename F::Unit{}, Wgmma<A, B, 32>{});
  visit(typename F::Unit{}, Wgmma<A, B, 64>{});
  visit(typename F::Unit{}, Wgmma<A, B, 96>{});
  visit(typename F::Unit{}, Wgmma<A, B, 128>{});
  visit(typename F::Unit{}, Wgmma<A, B, 192>{});
  visit(typename F::Unit{}, Wgmma<A, B, 256>{});
}

/// Tiles of an instruction for chains of some steps: about so many outputs, and every kind of operands.
template <class Instruction>
TileSet<typename Instruction::A, typename Instruction::B> make_tiles(std::int64_t outputs, int steps) {
  constexpr int tile = Instruction::rows * Instruction::columns;
  const std::int64_t reduced = outputs / (is_tiny() ? 256 : is_small() ? 16 : 1);
  const int tiles = static_cast<int>((reduced / tile / unit_kinds + 1) * unit_kinds);
  return {tiles, Instruction::rows, Instruction::columns,
          steps * backends::cuda::unit_depth_v<typename Instruction::A>};
}

/// The first two outputs that differ, with what made them; of the first sets that have any.
template <class A, class B>
std::string describe_differences(const TileSet<A, B>& set) {
  static int sets = 0;
  if (++sets > 4) return "";
  const auto a = verify::on_host(set.a());
  const auto b = verify::on_host(set.b());
  const auto c = verify::on_host(set.c());
  const auto d = verify::on_host(set.d());
  const auto expected = verify::on_host(set.expected());
  const auto [tiles, rows, columns, depth, pa, pb, pc, pd] = set.tiles();
  std::string text;
  const auto hex = [&text](std::uint32_t bits, const char* format) {
    char word[64];
    std::snprintf(word, sizeof word, format, bits);
    text += word;
  };
  int shown = 0;
  for (std::int64_t i = 0; i < set.outputs() && shown < 2; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (num::to_bits(d(at)) == num::to_bits(expected(at))) continue;
    ++shown;
    const std::int64_t row = i / columns, tile = row / rows, column = tile * columns + i % columns;
    text += "\n  " + std::string(unit_kind_names[tile % unit_kinds]) + ", row " + std::to_string(row % rows) +
            ", column " + std::to_string(i % columns) + ": found";
    hex(num::to_bits(d(at)), " %08x, expected");
    hex(num::to_bits(expected(at)), " %08x, from");
    hex(num::to_bits(c(at)), " %08x");
    for (int k = 0; k < depth && k < 32; ++k) {
      hex(num::OperandFormat<A>::bits(a(static_cast<std::size_t>(row * depth + k))), " %x");
      hex(num::OperandFormat<B>::bits(b(static_cast<std::size_t>(column * depth + k))), "*%x");
    }
  }
  return text;
}

/// What there is to say where not all outputs are the model's; else nothing.
template <class A, class B>
std::string difference(const TileSet<A, B>& set, const std::string& name, int steps) {
  const std::int64_t differing = set.differing();
  if (differing == 0) return "";
  return "\n" + name + ", " + std::to_string(steps) + " steps: " + std::to_string(differing) + " of " +
         std::to_string(set.outputs()) + " outputs differ" + describe_differences(set);
}

/// Chains of random operands, in every form of an instruction.
template <class Unit, class Instruction>
void check_random_tiles(const UnitReport& report) {
  const UnitData<typename Instruction::A, typename Instruction::B> data{
      static_cast<std::uint64_t>(Instruction::columns)};
  std::string differences;
  std::vector<int> chains = by_size<int>({1, 3, 8}, {1, 3});
  if (Instruction::rows == 16 && !is_small()) chains.push_back(64);
  for (const int steps : chains) {
    const auto set = make_tiles<Instruction>((std::int64_t{1} << 24) / steps, steps);
    set.fill(data);
    set.template model<Unit>();
    for (const UnitForm form : Instruction::forms()) {
      Kokkos::deep_copy(set.d(), num::from_bits<float>(0xfffffffeu));
      Instruction::run(set.tiles(), form);
      report.count(set, data);
      differences += difference(set, name_of<Instruction>(form), steps);
    }
  }
  CHECK_MESSAGE(differences.empty(), differences);
}

/// Without the accumulator a chain starts from +0, whatever was in the registers.
template <class Unit, class Instruction>
void check_start_from_zero() {
  const UnitData<typename Instruction::A, typename Instruction::B> data{77};
  std::string differences;
  for (const int steps : {1, 2}) {
    const auto set = make_tiles<Instruction>(std::int64_t{1} << 20, steps);
    set.fill(data);
    set.template model<Unit>(false);
    for (const UnitForm form : Instruction::forms()) {
      Instruction::run(set.tiles(), form, false);
      differences += difference(set, name_of<Instruction>(form) + ", scale-d 0", steps);
    }
    Kokkos::deep_copy(set.c(), 0.0f);
    Instruction::run(set.tiles(), Instruction::forms().front());
    differences += difference(set, name_of<Instruction>(Instruction::forms().front()) + ", from +0", steps);
  }
  CHECK_MESSAGE(differences.empty(), differences);
}

/// Other units' bits differ from the instruction's, where the model's do not.
template <class Unit, class Instruction>
void check_other_units() {
  using contract::TruncatedFusedDot;
  constexpr contract::Operands operands = Unit::operands;
  constexpr int group = Unit::group, bits = Unit::alignment_bits, kept = Unit::result_bits, zero = Unit::zero_exponent;
  const UnitData<typename Instruction::A, typename Instruction::B> data{5};
  const auto set = make_tiles<Instruction>(std::int64_t{1} << 20, 1);
  set.fill(data);
  Instruction::run(set.tiles(), Instruction::forms().front());
  set.template model<Unit>();
  CHECK(set.differing() == 0);
  std::string text = name_of<Instruction>(Instruction::forms().front()) + ": of " + std::to_string(set.outputs());
  const auto expect_difference = [&]<class Other>(Other, const char* what) {
    set.template model<Other>();
    const std::int64_t differing = set.differing();
    text += ", " + std::to_string(differing) + " differ with " + what;
    CHECK(differing > 0);
  };
  expect_difference(TruncatedFusedDot<operands, group, bits - 1, kept, zero>{}, "one alignment bit less");
  expect_difference(TruncatedFusedDot<operands, group / 2, bits, kept, zero>{}, "half the group");
  expect_difference(TruncatedFusedDot<operands, group, bits, kept - 1, zero>{}, "one result bit less");
  if constexpr (num::OperandFormat<typename Instruction::A>::bias == 127)
    if (!is_small())  // one output of some thousands shows it
      expect_difference(TruncatedFusedDot<operands, group, bits, kept, zero + 1>{}, "another zero exponent");
  std::printf("%s\n", text.c_str());
}

}  // namespace

#define INVAR_FORMATS Bfloat16, Float16, Tf32, E4m3, E4m3E5m2, E5m2E4m3, E5m2

TEST_CASE_TEMPLATE("the model on the device has the specification's bits", F, INVAR_FORMATS) {
  using A = typename F::A;
  using B = typename F::B;
  using Unit = typename F::Unit;
  constexpr int rows = 16, columns = 8, depth = 3 * Unit::group;
  const TileSet<A, B> set(unit_kinds * (is_small() ? 1 : 10), rows, columns, depth);
  set.fill(UnitData<A, B>{3});
  set.template model<Unit>();
  const auto a = verify::on_host(set.a());
  const auto b = verify::on_host(set.b());
  const auto c = verify::on_host(set.c());
  const auto expected = verify::on_host(set.expected());
  int differing = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(set.outputs()); ++i) {
    const std::size_t row = i / columns, column = row / rows * columns + i % columns;
    float sum = c(i);
    for (int k = 0; k < depth; k += Unit::group) {
      const A* const x = a.data() + row * depth + k;
      const B* const y = b.data() + column * depth + k;
      sum = reference::truncated_fused_dot<Unit>(std::vector<A>(x, x + Unit::group), std::vector<B>(y, y + Unit::group),
                                                 sum);
    }
    differing += num::to_bits(sum) != num::to_bits(expected(i));
  }
  CHECK(differing == 0);
}

TEST_CASE_TEMPLATE("every rule of the model is the instruction's", F, INVAR_FORMATS) {
  RuleResults results;
  int instructions = 0, tried = 0;
  for_each_instruction<F>([&]<class Unit, class Instruction>(Unit, Instruction) {
    try_corners<Unit, Instruction>(results);
    ++instructions;
  });
  for (const auto& [rule, result] : results) {
    tried += result.tried;
    CHECK_MESSAGE(result.wrong == 0, name_of<F>(), ": ", rule, ": ", result.wrong, " of ", result.tried,
                  " wrong; first ", result.first);
  }
  std::printf("%s: %d cases of %d rules in %d instructions\n", name_of<F>().c_str(), tried,
              static_cast<int>(results.size()), instructions);
}

TEST_CASE_TEMPLATE("random operands: every output has the model's bits", F, INVAR_FORMATS) {
  const UnitReport report;
  std::string instructions;
  for_each_instruction<F>([&]<class Unit, class Instruction>(Unit, Instruction) {
    check_random_tiles<Unit, Instruction>(report);
    instructions += ", " + Instruction::name();
  });
  if (instructions.empty()) return;
  report.print(name_of<F>() + instructions);
  CHECK(report.sum(-1, -1, UnitCounts::differing) == 0);
  // The data reach what they are meant to reach.
  CHECK(report.sum(-1, -1, UnitCounts::nan) > 0);
  CHECK(report.sum(-1, -1, UnitCounts::infinite) > 0);
  CHECK(report.sum(-1, -1, UnitCounts::zero) > 0);
  CHECK(report.sum(-1, -1, UnitCounts::subnormal) > 0);
  for (int kind = 0; kind < unit_kinds; ++kind)
    for (int start = 0; start < unit_starts; ++start) CHECK(report.sum(kind, start, UnitCounts::outputs) > 0);
}

TEST_CASE_TEMPLATE("without its accumulator an instruction starts from +0", F, INVAR_FORMATS) {
  for_each_instruction<F>([]<class Unit, class Instruction>(Unit, Instruction) {
    if constexpr (Instruction::rows == 64) check_start_from_zero<Unit, Instruction>();
  });
}

TEST_CASE_TEMPLATE("negative control: another unit has other bits", F, INVAR_FORMATS) {
  for_each_instruction<F>([]<class Unit, class Instruction>(Unit, Instruction) {
    if constexpr (Instruction::rows == 16 || Instruction::columns == 64) check_other_units<Unit, Instruction>();
  });
}
