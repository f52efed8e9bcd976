// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/copy.hpp"
#include "support/matmul_law.hpp"

#include <invar/op/batched_matmul.hpp>
#include <invar/reference/batched_matmul.hpp>
#include <invar/verify/trace.hpp>

#include <cstdint>
#include <vector>

using namespace invar;
using namespace invar::test;

namespace {

template <class T>
using Strided = Kokkos::View<T***, Kokkos::LayoutStride, Memory>;

/// The rows of a matrix as those of `count` matrices.
template <class V>
auto batch_of(const V& v, std::int64_t count) {
  const std::int64_t rows = static_cast<std::int64_t>(v.extent(0)) / count, row = v.stride(0);
  return Strided<typename V::value_type>(v.data(),
                                         Kokkos::LayoutStride(count, rows * row, rows, row, v.extent(1), v.stride(1)));
}
/// One matrix for the whole batch.
template <class V>
auto shared_by(const V& v, std::int64_t count) {
  return Strided<typename V::value_type>(
      v.data(), Kokkos::LayoutStride(count, 0, v.extent(0), v.stride(0), v.extent(1), v.stride(1)));
}

/// Every schedule, and null: the shape chooses.
template <class Contract>
auto schedules_of() {
  std::vector<const schedule::Matmul*> list{nullptr};
  if constexpr (contract::is_matrix_unit_v<typename Contract::arithmetic>)
    for (const auto& schedule : schedule::matrix_unit_matmul_table<Execution>) list.push_back(&schedule);
  else
    for (const auto& schedule : schedule::matmul_table<Execution>) list.push_back(&schedule);
  return list;
}

/// Every number of matrices: each row has the bits that the specification of matmul gives it.
template <class T, class R, class Contract = contract::DefaultMatmul>
void check_batches() {
  const std::int64_t n = 37, most = by_size<std::int64_t>({9}, {5}).front();
  for (const std::int64_t k : by_size<std::int64_t>({1, 129, 700}, {129}))
    for (const std::int64_t m : by_size<std::int64_t>({1, 3, 17}, {1, 9})) {
      const auto a = shared_matrix<T>(most * m, k, 61), b = shared_matrix<T>(most * k, n, 62);
      const Framed<R> expected(most * m, n);
      for (std::int64_t i = 0; i < most; ++i)
        reference::matmul<Contract>(rows_of(expected.view(), i * m, i * m + m), tree::rows_of(a, i * m, i * m + m),
                                    tree::rows_of(b, i * k, i * k + k));
      const Framed<R> specified(most * m, n);
      reference::batched_matmul<Contract>(batch_of(specified.view(), most), batch_of(a, most), batch_of(b, most));
      CHECK_BITS(expected.view(), specified.view());
      for (std::int64_t count = 1; count <= most; ++count)
        for (const auto* schedule : schedules_of<Contract>()) {
          if (schedule != nullptr && count != most) continue;
          const Execution& exec = executions()[static_cast<std::size_t>(count) % executions().size()];
          const Framed<R> c(count * m, n, 1, 2);
          batched_matmul<Contract>(exec, batch_of(c.view(), count), batch_of(tree::rows_of(a, 0, count * m), count),
                                   batch_of(tree::rows_of(b, 0, count * k), count), schedule);
          exec.fence("the result is read");
          INFO(describe(exec, schedule), ", ", count, " matrices of ", m, " rows, k ", k);
          CHECK_BITS(rows_of(expected.view(), 0, count * m), c.view());
          CHECK(c.is_intact());
        }
    }
}

/// Batches in any place of the layout, and a matrix that all share.
template <class T, class R, class Contract>
void check_batch_layouts() {
  const std::int64_t count = 5, m = 7, k = 200, n = 19;
  const auto a = shared_matrix<T>(count * m, k, 61), b = shared_matrix<T>(count * k, n, 62);
  const auto batch_a = batch_of(a, count), batch_b = batch_of(b, count);
  const Kokkos::View<R***, Kokkos::LayoutRight, Memory> expected("expected", count, m, n);
  reference::batched_matmul<Contract>(expected, batch_a, batch_b);
  const auto check = [&](const char* name, const auto& c, const auto& in_a, const auto& in_b, const auto& wanted) {
    INFO(name);
    batched_matmul<Contract>(executions().back(), c, in_a, in_b);
    executions().back().fence("the result is read");
    CHECK_BITS(wanted, c);
  };
  const Kokkos::View<R***, Kokkos::LayoutRight, Memory> right("right", count, m, n);
  const Kokkos::View<R***, Kokkos::LayoutLeft, Memory> left("left", count, m, n);
  // [M, B, N], as attention heads stand beside each other.
  const Strided<R> between("between", Kokkos::LayoutStride(count, n + 1, m, count * (n + 1), n, 1));
  const Kokkos::View<T***, Kokkos::LayoutLeft, Memory> left_a("left", count, m, k), left_b("left", count, k, n);
  const Strided<T> between_a("between", Kokkos::LayoutStride(count, k, m, count * k, k, 1));
  const Strided<T> rows_b("rows", Kokkos::LayoutStride(count, n * k, k, 1, n, k));  // [B, N, K]
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t p = 0; p < k; ++p) {
      for (std::int64_t r = 0; r < m; ++r) left_a(i, r, p) = between_a(i, r, p) = batch_a(i, r, p);
      for (std::int64_t j = 0; j < n; ++j) left_b(i, p, j) = rows_b(i, p, j) = batch_b(i, p, j);
    }
  }
  check("LayoutRight", right, batch_a, batch_b, expected);
  check("LayoutLeft", left, left_a, left_b, expected);
  check("the batch between rows and columns, weights stored [N, K]", between, between_a, rows_b, expected);
  const auto one = tree::rows_of(b, k, 2 * k);
  const Kokkos::View<R***, Kokkos::LayoutRight, Memory> shared("shared", count, m, n);
  for (std::int64_t i = 0; i < count; ++i)
    reference::matmul<Contract>(tree::matrix_of(shared, static_cast<std::size_t>(i)),
                                tree::matrix_of(batch_a, static_cast<std::size_t>(i)), one);
  check("a shared matrix", right, batch_a, shared_by(one, count), shared);
}

/// A factor, a bias, and a residual of every matrix's own, which may be c itself.
template <class T, class R, class Contract>
void check_batch_epilogues() {
  const std::int64_t count = 4, m = 6, k = 200, n = 19;
  const auto a = batch_of(shared_matrix<T>(count * m, k, 61), count);
  const auto b = batch_of(shared_matrix<T>(count * k, n, 62), count);
  const auto bias = shared_vector<R>(n, 63);
  const auto residual = batch_of(shared_matrix<R>(count * m, n, 64), count);
  const auto whole = epilogue().scaled(0.3).with_bias(bias);
  const Kokkos::View<R***, Kokkos::LayoutRight, Memory> expected("expected", count, m, n), c("c", count, m, n);
  const Execution& exec = executions().back();
  for (std::int64_t i = 0; i < count; ++i) {
    const auto part = static_cast<std::size_t>(i);
    reference::matmul<Contract>(tree::matrix_of(expected, part), tree::matrix_of(a, part), tree::matrix_of(b, part),
                                whole.with_residual(tree::matrix_of(residual, part)));
  }
  batched_matmul<Contract>(exec, c, a, b, whole.with_residual(residual));
  CHECK_BITS(expected, c);
  copy(c, residual);
  batched_matmul<Contract>(exec, c, a, b, whole.with_residual(c));
  CHECK_BITS(expected, c);
  reference::batched_matmul<Contract>(expected, a, b, bias);
  batched_matmul<Contract>(exec, c, a, b, bias);
  CHECK_BITS(expected, c);
}

/// Negative controls: each matrix of a with the next one of b; other leaves.
template <class T, class R, class Contract, class Other>
void check_batch_controls() {
  const std::int64_t count = 3, m = 8, k = 700, n = 37;
  const auto a = batch_of(shared_matrix<T>(count * m, k, 61), count);
  const auto b = shared_matrix<T>(count * k, n, 62);
  const Kokkos::View<R***, Kokkos::LayoutRight, Memory> other("other", count, m, n), c("c", count, m, n);
  batched_matmul<Contract>(executions().back(), c, a, batch_of(b, count));
  reference::batched_matmul<Other>(other, a, batch_of(b, count));
  CHECK_BITS_DIFFER(c, other);
  const auto two = [](const auto& v, int first) {
    return Kokkos::subview(v, std::pair(first, first + 2), Kokkos::ALL, Kokkos::ALL);
  };
  reference::batched_matmul<Contract>(two(other, 0), two(a, 0), two(batch_of(b, count), 1));
  CHECK_BITS_DIFFER(two(c, 0), two(other, 0));
}

template <class T, class R, class Contract = contract::DefaultMatmul,
          class Other = contract::Matmul<typename Contract::arithmetic, 64>>
void check_batched_matmul() {
  SUBCASE("numbers of matrices") { check_batches<T, R, Contract>(); }
  SUBCASE("layouts") { check_batch_layouts<T, R, Contract>(); }
  SUBCASE("epilogues") { check_batch_epilogues<T, R, Contract>(); }
  SUBCASE("another order is noticed") { check_batch_controls<T, R, Contract, Other>(); }
}

}  // namespace

TEST_CASE("batched_matmul of float") { check_batched_matmul<float, float>(); }
TEST_CASE("batched_matmul of bfloat16_t") {
  check_batches<bfloat16_t, float, contract::DefaultMatmul>();
  check_batch_epilogues<bfloat16_t, bfloat16_t, contract::DefaultMatmul>();
}
TEST_CASE("batched_matmul of traces") { check_batches<verify::Trace, verify::Trace, contract::DefaultMatmul>(); }
TEST_CASE("batched_matmul of double") { check_batch_layouts<double, double, contract::DefaultMatmul>(); }
TEST_CASE("batched_matmul as Hopper's matrix units do it") {
  check_batched_matmul<bfloat16_t, float, contract::Matmul<hopper_16bit, 512>>();
  check_batches<float, float, contract::Matmul<hopper_tf32, 512>>();
  check_batches<float8_e4m3_t, bfloat16_t, contract::Matmul<hopper_fp8>>();
}

TEST_CASE("batched_matmul: refusals, and nothing to do") {
  using View = Kokkos::View<float***, Kokkos::LayoutRight, Memory>;
  const Execution exec;
  const View a("a", 2, 3, 5), b("b", 2, 5, 4);
  const Matrix<float> memory("c", 6, 4);
  const auto c = batch_of(memory, 2);
  check_refused(memory, "batched_matmul: c extent 0: expected 3, found 2",
                [&] { batched_matmul(exec, c, View("a", 3, 3, 5), View("b", 3, 5, 4)); });
  check_refused(memory, "batched_matmul: b extent 0: expected 2, found 1",
                [&] { batched_matmul(exec, c, a, View("b", 1, 5, 4)); });
  check_refused(memory, "batched_matmul: b extent 1: expected 5, found 6",
                [&] { batched_matmul(exec, c, a, View("b", 2, 6, 4)); });
  check_refused(memory, "batched_matmul: bias extent 0: expected 4, found 5",
                [&] { batched_matmul(exec, c, a, b, Kokkos::View<float*, Memory>("bias", 5)); });
  check_refused(memory, "batched_matmul: residual extent 1: expected 3, found 4",
                [&] { batched_matmul(exec, c, a, b, epilogue().with_residual(View("residual", 2, 4, 4))); });
  const Matrix<float> square("square", 6, 3);
  check_refused(square, "batched_matmul: c: expected memory apart from a",
                [&] { batched_matmul(exec, batch_of(square, 2), batch_of(square, 2), View("b", 2, 3, 3)); });
  check_refused(memory, "batched_matmul: c: expected elements apart from each other",
                [&] { batched_matmul(exec, shared_by(rows_of(memory, 0, 3), 2), a, b); });
  batched_matmul(exec, View("c", 0, 3, 4), View("a", 0, 3, 5), View("b", 0, 5, 4));
  // Sums over nothing.
  const View zero("zero", 2, 3, 4), found("found", 2, 3, 4);
  Kokkos::deep_copy(found, 1.0f);
  batched_matmul(exec, found, View("a", 2, 3, 0), View("b", 2, 0, 4));
  CHECK_BITS(zero, found);
}
