// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The corners of a matrix unit run through an instruction, with the outcome by rule.
#ifndef INVAR_TESTS_SUPPORT_MATRIX_UNIT_RULES_HPP
#define INVAR_TESTS_SUPPORT_MATRIX_UNIT_RULES_HPP

#include "support/matrix_unit_corners.hpp"
#include "support/matrix_unit_instructions.hpp"
#include "support/matrix_unit_tiles.hpp"

#include <invar/num/matrix_unit.hpp>
#include <invar/verify/host_copy.hpp>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace invar::test {

/// By rule: how many corners were tried, and what went wrong first.
struct RuleResult {
  int tried = 0, wrong = 0;
  std::string first;
};
using RuleResults = std::map<std::string, RuleResult>;

inline std::string describe_corner(std::uint32_t found, std::uint32_t expected, float c) {
  char words[80];
  std::snprintf(words, sizeof words, "found %08x, expected %08x, from %08x", found, expected, num::to_bits(c));
  return words;
}

inline void note(RuleResult& result, bool is_right, const std::string& what) {
  ++result.tried;
  if (is_right) return;
  ++result.wrong;
  if (result.first.empty()) result.first = what;
}

/// Every rule by name, in every form of an instruction and at every position of its tile.
template <class Unit, class Instruction>
void try_corners(RuleResults& results) {
  using A = typename Instruction::A;
  using B = typename Instruction::B;
  constexpr std::size_t rows = Instruction::rows, columns = Instruction::columns;
  constexpr int instruction = backends::cuda::unit_depth_v<A>;
  constexpr int first = instruction - Unit::group;  // where an instruction is several groups, the last is the corner's
  for (const int steps : {1, 2}) {
    std::vector<UnitCorner<A, B>> corners;
    for (const auto& corner : UnitCorners<Unit, A, B>::list())
      if (static_cast<int>(std::max(corner.a.size(), std::size_t{1}) - 1 + first) / instruction + 1 == steps)
        corners.push_back(corner);
    if (corners.empty()) continue;
    const int depth = steps * instruction;
    const TileSet<A, B> set(static_cast<int>(corners.size()), rows, columns, depth);
    const auto a = Kokkos::create_mirror_view(set.a());
    const auto b = Kokkos::create_mirror_view(set.b());
    const auto c = Kokkos::create_mirror_view(set.c());
    for (std::size_t i = 0; i < corners.size(); ++i) {
      std::vector<A> row(static_cast<std::size_t>(depth), A(0.0f));
      std::vector<B> column(static_cast<std::size_t>(depth), B(0.0f));
      std::copy(corners[i].a.begin(), corners[i].a.end(), row.begin() + first);
      std::copy(corners[i].b.begin(), corners[i].b.end(), column.begin() + first);
      for (std::size_t m = 0; m < rows; ++m) std::copy(row.begin(), row.end(), a.data() + (i * rows + m) * row.size());
      for (std::size_t n = 0; n < columns; ++n)
        std::copy(column.begin(), column.end(), b.data() + (i * columns + n) * column.size());
      std::fill_n(c.data() + i * rows * columns, rows * columns, corners[i].c);
      float model = corners[i].c;
      for (int k = 0; k < depth; k += Unit::group)
        model = num::add_products<Unit>(row.data() + k, 1, column.data() + k, 1, Unit::group, model);
      note(results[corners[i].rule], num::to_bits(model) == corners[i].expected,
           "the model: " + describe_corner(num::to_bits(model), corners[i].expected, corners[i].c));
    }
    Kokkos::deep_copy(set.a(), a);
    Kokkos::deep_copy(set.b(), b);
    Kokkos::deep_copy(set.c(), c);
    for (const UnitForm form : Instruction::forms()) {
      Kokkos::deep_copy(set.d(), num::from_bits<float>(0xfffffffeu));
      Instruction::run(set.tiles(), form);
      const auto d = verify::on_host(set.d());
      for (std::size_t i = 0; i < corners.size(); ++i) {
        const float* const begin = d.data() + i * rows * columns;
        const float* const wrong = std::find_if(begin, begin + rows * columns,
                                                [&](float x) { return num::to_bits(x) != corners[i].expected; });
        const bool is_right = wrong == begin + rows * columns;
        note(results[corners[i].rule], is_right,
             is_right ? ""
                      : name_of<Instruction>(form) + ", position " + std::to_string(wrong - begin) + ": " +
                            describe_corner(num::to_bits(*wrong), corners[i].expected, corners[i].c));
      }
    }
  }
}

}  // namespace invar::test

#endif
