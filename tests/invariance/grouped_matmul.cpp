// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/copy.hpp"
#include "support/matmul_law.hpp"

#include <invar/op/grouped_matmul.hpp>
#include <invar/reference/grouped_matmul.hpp>
#include <invar/verify/trace.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

using namespace invar;
using namespace invar::test;

namespace {

template <class T>
using Matrices = Kokkos::View<T***, Kokkos::LayoutRight, Memory>;

template <class Offset>
Kokkos::View<Offset*, Memory> offsets_view(const std::vector<std::int64_t>& values) {
  const Kokkos::View<Offset*, Memory> view("offsets", values.size());
  for (std::size_t i = 0; i < values.size(); ++i) view(i) = static_cast<Offset>(values[i]);
  return view;
}

/// Groups of `rows` rows: all in one, none in the first and the last, uneven ones with empty ones among them, and rows
/// outside all groups.
std::vector<std::vector<std::int64_t>> groupings(std::int64_t rows) {
  std::vector<std::vector<std::int64_t>> list{{0, rows}, {0, 0, rows, rows}, {rows / 3, rows / 2}};
  std::vector<std::int64_t> each, uneven{0}, gap{rows / 4};
  for (std::int64_t i = 0; i <= rows; ++i) each.push_back(i);
  for (std::uint64_t i = 0; uneven.back() < rows; ++i)
    uneven.push_back(std::min<std::int64_t>(
        rows,
        uneven.back() +
            (verify::random_bits(7, i) % 3 == 0 ? 0 : static_cast<std::int64_t>(verify::random_bits(8, i) % 13))));
  for (std::uint64_t i = 0; i < 5; ++i)
    gap.push_back(std::min<std::int64_t>(rows, gap.back() + static_cast<std::int64_t>(verify::random_bits(9, i) % 5)));
  list.push_back(each);
  list.push_back(uneven);
  list.push_back(gap);
  return list;
}

/// What matmul's specification gives each row with its group's matrix; garbage where there is none.
template <class T, class R, class Contract, class A>
Framed<R> expected_of(const A& a, const Matrices<T>& b, const std::vector<std::int64_t>& offsets) {
  const Framed<R> expected(a.extent(0), b.extent(2));
  for (std::size_t g = 0; g + 1 < offsets.size(); ++g)
    for (std::int64_t i = offsets[g]; i < offsets[g + 1]; ++i)
      reference::matmul<Contract>(rows_of(expected.view(), i, i + 1), tree::rows_of(a, i, i + 1),
                                  tree::matrix_of(b, g));
  return expected;
}

template <class T>
Matrices<T> random_matrices(std::int64_t groups, std::int64_t k, std::int64_t n) {
  const Matrices<T> b("b", groups, k, n);
  verify::fill_random(b, 72);
  return b;
}

/// Groups of every kind, with offsets of both types.
template <class T, class R, class Contract>
void check_groups() {
  const std::int64_t n = 37;
  int run = 0;
  for (const std::int64_t k : by_size<std::int64_t>({1, 129, 700}, {129}))
    for (const std::int64_t rows : by_size<std::int64_t>({1, 5, 33, 130}, {1, 40})) {
      const auto a = shared_matrix<T>(rows, k, 71);
      for (const auto& offsets : groupings(rows)) {
        const auto b = random_matrices<T>(static_cast<std::int64_t>(offsets.size()) - 1, k, n);
        const auto expected = expected_of<T, R, Contract>(a, b, offsets);
        const Framed<R> specified(rows, n), c(rows, n, 1, 2);
        reference::grouped_matmul<Contract>(specified.view(), a, b, offsets_view<std::int32_t>(offsets));
        CHECK_BITS(expected.view(), specified.view());
        const Execution& exec = executions()[static_cast<std::size_t>(++run) % executions().size()];
        if (run % 2 == 0)
          grouped_matmul<Contract>(exec, c.view(), a, b, offsets_view<std::int32_t>(offsets));
        else
          grouped_matmul<Contract>(exec, c.view(), a, b, offsets_view<std::int64_t>(offsets));
        exec.fence("the result is read");
        INFO(describe(exec), ", ", rows, " rows, ", offsets.size() - 1, " groups, k ", k);
        CHECK_BITS(expected.view(), c.view());
        CHECK(c.is_intact());
      }
    }
}

/// Experts in another order: rows move with them, and keep their bits.
template <class T, class R, class Contract>
void check_orders() {
  const std::int64_t k = 200, n = 37;
  const std::vector<std::int64_t> offsets{0, 4, 4, 17, 20}, reversed{0, 3, 16, 16, 20};
  const auto a = shared_matrix<T>(20, k, 71);
  const auto b = random_matrices<T>(4, k, n);
  const Matrix<T> other_a("a", 20, k);
  const Matrices<T> other_b("b", 4, k, n);
  const Matrix<R> c("c", 20, n), other("other", 20, n), back("back", 20, n);
  for (std::size_t g = 0; g < 4; ++g) {
    copy(tree::matrix_of(other_b, 3 - g), tree::matrix_of(b, g));
    copy(rows_of(other_a, reversed[3 - g], reversed[4 - g]), tree::rows_of(a, offsets[g], offsets[g + 1]));
  }
  grouped_matmul<Contract>(executions().back(), c, a, b, offsets_view<std::int32_t>(offsets));
  grouped_matmul<Contract>(executions().back(), other, other_a, other_b, offsets_view<std::int32_t>(reversed));
  executions().back().fence("the results are read");
  for (std::size_t g = 0; g < 4; ++g)
    copy(rows_of(back, offsets[g], offsets[g + 1]), rows_of(other, reversed[3 - g], reversed[4 - g]));
  CHECK_BITS(c, back);
}

/// Layouts of all operands.
template <class T, class R, class Contract>
void check_group_layouts() {
  using Strided = Kokkos::View<T***, Kokkos::LayoutStride, Memory>;
  const std::int64_t rows = 21, k = 200, n = 19;
  const std::vector<std::int64_t> offsets{0, 4, 4, 17, 20};
  const auto a = shared_matrix<T>(rows, k, 71);
  const auto b = random_matrices<T>(4, k, n);
  const auto expected = expected_of<T, R, Contract>(a, b, offsets);
  const Kokkos::View<T**, Kokkos::LayoutLeft, Memory> left_a("left", rows, k);
  const Kokkos::View<T***, Kokkos::LayoutLeft, Memory> left_b("left", 4, k, n);
  const Strided rows_b("rows", Kokkos::LayoutStride(4, n * k, k, 1, n, k));  // [G, N, K]
  const Kokkos::View<std::int64_t*, Kokkos::LayoutStride, Memory> apart("apart", Kokkos::LayoutStride(5, 3));
  copy(left_a, a);
  for (std::int64_t g = 0; g < 5; ++g) {
    apart(g) = offsets[static_cast<std::size_t>(g)];
    for (std::int64_t p = 0; p < k && g < 4; ++p)
      for (std::int64_t j = 0; j < n; ++j) left_b(g, p, j) = rows_b(g, p, j) = b(g, p, j);
  }
  const auto check = [&](const auto& c, const auto& in_a, const auto& in_b) {
    fill(c, garbage<R>());
    grouped_matmul<Contract>(executions().back(), c, in_a, in_b, apart);
    executions().back().fence("the result is read");
    CHECK_BITS(expected.view(), c);
  };
  check(Matrix<R>("c", rows, n), a, rows_b);
  check(Kokkos::View<R**, Kokkos::LayoutLeft, Memory>("c", rows, n), left_a, left_b);
  check(Kokkos::View<R**, Kokkos::LayoutStride, Memory>("c", Kokkos::LayoutStride(rows, 2, n, 2 * rows + 3)), a, b);
}

/// Negative controls: a row given to the group beside its own; other leaves.
template <class T, class R, class Contract, class Other>
void check_group_controls() {
  const auto a = shared_matrix<T>(20, 700, 71);
  const auto b = random_matrices<T>(3, 700, 37);
  const Matrix<R> c("c", 20, 37);
  grouped_matmul<Contract>(executions().back(), c, a, b, offsets_view<std::int32_t>({0, 5, 12, 20}));
  CHECK_BITS_DIFFER(c, (expected_of<T, R, Contract>(a, b, {0, 5, 11, 20}).view()));
  CHECK_BITS_DIFFER(c, (expected_of<T, R, Other>(a, b, {0, 5, 12, 20}).view()));
}

template <class T, class R, class Contract = contract::DefaultMatmul,
          class Other = contract::Matmul<typename Contract::arithmetic, 64>>
void check_grouped_matmul() {
  SUBCASE("groups") { check_groups<T, R, Contract>(); }
  SUBCASE("orders") { check_orders<T, R, Contract>(); }
  SUBCASE("layouts") { check_group_layouts<T, R, Contract>(); }
  SUBCASE("another order is noticed") { check_group_controls<T, R, Contract, Other>(); }
}

}  // namespace

TEST_CASE("grouped_matmul of float") { check_grouped_matmul<float, float>(); }
TEST_CASE("grouped_matmul of bfloat16_t") {
  check_groups<bfloat16_t, float, contract::DefaultMatmul>();
  check_group_layouts<bfloat16_t, bfloat16_t, contract::DefaultMatmul>();
}
TEST_CASE("grouped_matmul of traces") { check_groups<verify::Trace, verify::Trace, contract::DefaultMatmul>(); }
TEST_CASE("grouped_matmul of double") { check_group_layouts<double, double, contract::DefaultMatmul>(); }
TEST_CASE("grouped_matmul as Hopper's matrix units do it") {
  check_grouped_matmul<bfloat16_t, float, contract::Matmul<hopper_16bit, 512>>();
  check_groups<float, float, contract::Matmul<hopper_tf32, 512>>();
  check_groups<float8_e4m3_t, bfloat16_t, contract::Matmul<hopper_fp8>>();
}

TEST_CASE("grouped_matmul: refusals, and nothing to do") {
  const Execution exec;
  const Matrix<float> a("a", 6, 5), c("c", 6, 4);
  const auto b = random_matrices<float>(2, 5, 4);
  const auto offsets = offsets_view<std::int32_t>({0, 2, 6});
  check_refused(c, "grouped_matmul: offsets extent 0: expected 3, found 2", [&] {
    grouped_matmul(exec, c, a, b, offsets_view<std::int32_t>({0, 6}));
  });
  check_refused(c, "grouped_matmul: c extent 0: expected 7, found 6",
                [&] { grouped_matmul(exec, c, Matrix<float>("a", 7, 5), b, offsets); });
  check_refused(c, "grouped_matmul: c extent 1: expected 3, found 4",
                [&] { grouped_matmul(exec, c, a, random_matrices<float>(2, 5, 3), offsets); });
  check_refused(c, "grouped_matmul: b extent 1: expected 5, found 8",
                [&] { grouped_matmul(exec, c, a, random_matrices<float>(2, 8, 4), offsets); });
  const Matrix<float> square("square", 6, 4);
  check_refused(square, "grouped_matmul: c: expected memory apart from a",
                [&] { grouped_matmul(exec, square, square, random_matrices<float>(2, 4, 4), offsets); });
  if constexpr (schedule::runs_on_host_v<Execution>) {
    check_refused(c, "grouped_matmul: offsets(1): expected 0 to 6, found 7", [&] {
      grouped_matmul(exec, c, a, b, offsets_view<std::int32_t>({0, 7, 6}));
    });
    check_refused(c, "grouped_matmul: offsets(2): expected 4 to 6, found 3", [&] {
      grouped_matmul(exec, c, a, b, offsets_view<std::int64_t>({0, 4, 3}));
    });
  }
  fill(c, garbage<float>());
  const Framed<float> untouched(6, 4);
  grouped_matmul(exec, c, a, random_matrices<float>(0, 5, 4), offsets_view<std::int32_t>({3}));
  CHECK_BITS(untouched.view(), c);
  // Sums over nothing.
  const Matrix<float> zero("zero", 6, 4);
  grouped_matmul(exec, c, Matrix<float>("a", 6, 0), random_matrices<float>(2, 0, 4), offsets);
  CHECK_BITS(zero, c);
}
