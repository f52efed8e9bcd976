// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tests of matmul with a matrix unit's arithmetic for one element type; each type is a program of its own.
#ifndef INVAR_TESTS_SUPPORT_MATRIX_UNIT_LAW_HPP
#define INVAR_TESTS_SUPPORT_MATRIX_UNIT_LAW_HPP

#include "copy.hpp"
#include "matmul_law.hpp"

#include <invar/num/matrix_unit.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace invar::test {

/// A row of a gives a row of c; b, of 37 columns, is shared.
template <class T, class Unit, class R = float, class Contract = contract::Matmul<Unit>, class B = T>
struct UnitMatmul : Matmul<T, R, B, 37, Contract> {
  static constexpr const auto& table = schedule::matrix_unit_matmul_table<Execution>;
  static constexpr std::int64_t long_row = 2200;
};

/// With a bias, in a leaf of 512.
template <class T, class Unit, class R>
struct BiasedUnitMatmul : UnitMatmul<T, Unit, R> {
  using Contract = contract::Matmul<Unit, 512>;
  template <class Out, class In>
  static void kernel(const Execution& exec, const Out& c, const In& a, const schedule::Matmul* schedule) {
    invar::matmul<Contract>(exec, c, a, shared_matrix<T>(a.extent(1), 37, 21), shared_vector<R>(37, 22), schedule);
  }
  template <class Out, class In>
  static void reference(const Out& c, const In& a) {
    reference::matmul<Contract>(c, a, shared_matrix<T>(a.extent(1), 37, 21), shared_vector<R>(37, 22));
  }
};

/// The weight stored [N, K].
template <class T, class Unit>
struct TransposedUnitMatmul : UnitMatmul<T, Unit> {
  using Contract = contract::Matmul<Unit>;
  template <class Out, class In>
  static void kernel(const Execution& exec, const Out& c, const In& a, const schedule::Matmul* schedule) {
    invar::matmul<Contract>(exec, c, a, transposed(shared_matrix<T>(37, a.extent(1), 23)), schedule);
  }
  template <class Out, class In>
  static void reference(const Out& c, const In& a) {
    reference::matmul<Contract>(c, a, transposed(shared_matrix<T>(37, a.extent(1), 23)));
  }
};

/// The same products in another order along k: position p takes what stands at source(p, k).
template <class T, class Unit, class Source>
struct PermutedUnitMatmul : UnitMatmul<T, Unit> {
  template <class Out, class In>
  static void reference(const Out& c, const In& a) {
    const auto k = static_cast<std::int64_t>(a.extent(1));
    Matrix<T> permuted_a("a", a.extent(0), k), permuted_b("b", k, 37);
    const auto b = shared_matrix<T>(k, 37, 21);
    for (std::int64_t p = 0; p < k; ++p) {
      const std::int64_t from = Source::of(p, k);
      for (std::size_t i = 0; i < a.extent(0); ++i) permuted_a(i, p) = a(i, from);
      for (int j = 0; j < 37; ++j) permuted_b(p, j) = b(from, j);
    }
    reference::matmul<contract::Matmul<Unit>>(c, permuted_a, permuted_b);
  }
};
struct Descending {
  static std::int64_t of(std::int64_t p, std::int64_t k) { return k - 1 - p; }
};
/// Pairs of neighbours change places, within their group.
struct SwappedInGroup {
  static std::int64_t of(std::int64_t p, std::int64_t k) { return (p ^ 1) < k ? p ^ 1 : p; }
};
/// The last of each group changes places with the first of the next one.
template <int Group>
struct SwappedAcrossGroups {
  static std::int64_t of(std::int64_t p, std::int64_t k) {
    if (p % Group == Group - 1 && p + 1 < k) return p + 1;
    return p % Group == 0 && p > 0 ? p - 1 : p;
  }
};

/// Every schedule at few row lengths: groups and leaves that are whole, and that are not.
template <class Op>
void check_variant(const Op& op) {
  for (const std::int64_t n :
       by_size<std::int64_t>({1, 7, 16, 33, 130, 512, 1100, 2048, 2100, 5000}, {33, 520, 2100})) {
    const auto in = random_rows<Op>(4, n, 1000 + n, 3, 2);
    const auto expected = reference_of(op, in.view());
    for (const auto* schedule : schedules<Op>()) check_run(op, expected, executions().back(), in.view(), schedule);
  }
}

/// A chain of k that ends in one group more than it needs, of zeros: no other bits.
template <class T, class Unit>
void check_zero_groups() {
  const std::int64_t k = 130;
  const auto a = random_rows<UnitMatmul<T, Unit>>(3, k, 9000);
  const Framed<T> longer(3, k + 3 * Unit::group);
  fill(longer.view(), T(0.0f));
  Matrix<T> b("b", k + 3 * Unit::group, 37);
  copy(Kokkos::subview(b, std::pair<std::int64_t, std::int64_t>(0, k), Kokkos::ALL), shared_matrix<T>(k, 37, 21));
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t p = 0; p < k; ++p) longer.view()(i, p) = a.view()(i, p);
  const Matrix<float> c("c", 3, 37);
  invar::matmul<contract::Matmul<Unit>>(executions().back(), c, longer.view(), b);
  Kokkos::fence("the result is read");
  CHECK_BITS(reference_of(UnitMatmul<T, Unit>{}, a.view()), c);
}

/// Numbers of columns around the block's, with every schedule, for b in several layouts.
template <class T, class Unit>
void check_unit_columns() {
  using Contract = contract::Matmul<Unit>;
  const std::int64_t k = 259;
  for (const std::int64_t columns : by_size<std::int64_t>({1, 2, 31, 63, 64, 65, 128, 130}, {1, 65}))
    for (const std::int64_t rows : by_size<std::int64_t>({1, 2, 7, 8, 9, 31, 32, 33, 65}, {1, 9})) {
      const auto a = shared_matrix<T>(rows, k, 31), b = shared_matrix<T>(k, columns, 32);
      const Framed<T> padded(k, columns, 3, 2);
      copy(padded.view(), b);
      Kokkos::View<T**, Kokkos::LayoutLeft, Memory> left("b", k, columns);
      copy(left, b);
      Matrix<float> expected("expected", rows, columns);
      reference::matmul<Contract>(expected, a, b);
      for (const schedule::Matmul& schedule : schedule::matrix_unit_matmul_table<Execution>) {
        INFO(rows, " rows, ", columns, " columns, schedule ", schedule.name);
        const auto check = [&](const auto& any_b) {
          const Framed<float> c(rows, columns, 1, 1);
          matmul<Contract>(executions().back(), c.view(), a, any_b, &schedule);
          CHECK_BITS(expected, c.view());
          CHECK(c.is_intact());
        };
        check(b);
        check(typename Framed<T>::View::const_type(padded.view()));
        check(left);
      }
    }
}

/// The comparison sees that `Wrong` is another operation than `Op`. Few rows, for the specification is slow.
template <class Op, class Wrong>
void check_sees(const Op& op, const Wrong& wrong) {
  const auto in = random_rows<Op>(4, 4200, 8000);
  const Framed<float> out(4, 37);
  op.kernel(executions().back(), out.view(), typename Framed<typename Op::Element>::View::const_type(in.view()),
            nullptr);
  CHECK_BITS_DIFFER(out.view(), reference_of(wrong, in.view()));
}

/// Negative controls: other leaves, another unit, fma chains, other orders. A swap inside a group is none.
template <class T, class Unit>
void check_unit_controls() {
  using Op = UnitMatmul<T, Unit>;
  using contract::TruncatedFusedDot;
  constexpr int group = Unit::group, bits = Unit::alignment_bits, kept = Unit::result_bits;
  constexpr int leaf = contract::default_leaf_v<Unit>;
  const auto of_unit = [&]<class Other>(Other) {
    check_sees(Op{}, UnitMatmul<T, Other, float, contract::Matmul<Other, leaf>>{});
  };
  of_unit(TruncatedFusedDot<Unit::operands, group / 2, bits, kept>{});
  of_unit(TruncatedFusedDot<Unit::operands, group, bits - 1, kept>{});
  of_unit(TruncatedFusedDot<Unit::operands, group, bits, kept - 1>{});
  check_sees(Op{}, UnitMatmul<T, Unit, float, contract::Matmul<Unit, 512>>{});
  check_sees(Op{}, UnitMatmul<T, Unit, float, contract::SingleChainMatmul<Unit>>{});
  check_sees(Op{}, PermutedUnitMatmul<T, Unit, Descending>{});
  check_sees(Op{}, PermutedUnitMatmul<T, Unit, SwappedAcrossGroups<group>>{});
  if constexpr (Unit::operands != contract::Operands::fp8)
    check_sees(Op{}, Matmul<T, float, T, 37, contract::Matmul<ieee, leaf>>{});

  const auto in = random_rows<Op>(4, 4200, 8000);
  CHECK_BITS(reference_of(Op{}, in.view()), reference_of(PermutedUnitMatmul<T, Unit, SwappedInGroup>{}, in.view()));
}

/// NaN, infinities and zeros, known without the specification. Infinities where the format has them.
template <class T, class Unit>
void check_unit_special_values() {
  const Framed<T> in(4, 600);
  const auto& a = in.view();
  const Matrix<float> expected("expected", 4, 37);
  verify::fill_random(a, 1);
  a(0, 599) = garbage<T>();
  fill(rows_of(expected, 0, 1), num::canonical_nan<float>());
  const auto b = shared_matrix<T>(600, 37, 21);
  const auto is_negative = [&](int p, int j) { return num::is_negative(static_cast<float>(T(b(p, j)))); };
  const auto sum = [&](int j, bool negative) {
    return num::is_nan_operand(infinity<T>()) || static_cast<float>(T(b(3, j))) == 0 ? num::canonical_nan<float>()
                                                                                     : infinity<float>(negative);
  };
  a(1, 3) = infinity<T>();
  for (int j = 0; j < 37; ++j) expected(1, j) = sum(j, is_negative(3, j));
  a(2, 3) = infinity<T>();
  a(2, 4) = infinity<T>(true);
  for (int j = 0; j < 37; ++j)
    expected(2, j) = is_negative(3, j) == is_negative(4, j) ? num::canonical_nan<float>() : sum(j, is_negative(3, j));
  fill(rows_of(a, 3, 4), T(-0.0f));
  check_values(UnitMatmul<T, Unit>{}, a, expected);
  check_values(UnitMatmul<T, Unit>{}, Framed<T>(2, 0).view(), Matrix<float>("zero", 2, 37));
}

/// The whole of the law for one type and unit.
template <class T, class Unit>
void check_unit_matmul() {
  SUBCASE("the row law") { check_row_law(UnitMatmul<T, Unit>{}); }
  SUBCASE("columns and layouts of b") { check_unit_columns<T, Unit>(); }
  SUBCASE("a weight stored by rows of the output") { check_variant(TransposedUnitMatmul<T, Unit>{}); }
  SUBCASE("layouts of a and c") { check_layouts(UnitMatmul<T, Unit>{}); }
  SUBCASE("other leaves") {
    check_variant(UnitMatmul<T, Unit, float, contract::Matmul<Unit, Unit::group>>{});
    check_variant(UnitMatmul<T, Unit, float, contract::SingleChainMatmul<Unit>>{});
  }
  SUBCASE("bias") { check_variant(BiasedUnitMatmul<T, Unit, float>{}); }
  SUBCASE("zeros beyond the end of k") { check_zero_groups<T, Unit>(); }
  SUBCASE("special values") { check_unit_special_values<T, Unit>(); }
  SUBCASE("a wrong order is noticed") { check_unit_controls<T, Unit>(); }
}

}  // namespace invar::test

#endif
