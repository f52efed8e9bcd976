// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/copy.hpp"
#include "support/matmul_law.hpp"

#include <cstdint>

using namespace invar;
using namespace invar::test;

namespace {

/// A residual whose rows are all the same, so that a row of c does not depend on its place: it has no memory of its
/// own for the second row.
template <class R>
auto repeated_row(std::int64_t rows, std::uint64_t seed) {
  return Kokkos::View<const R**, Kokkos::LayoutStride, Memory>(shared_vector<R>(37, seed).data(),
                                                               Kokkos::LayoutStride(rows, 0, 37, 1));
}

/// A factor, a bias and a residual.
template <class T, class R = T, class Bias = T, class Residual = T, class Contract = contract::DefaultMatmul>
struct WholeEpilogue : Matmul<T, R, T, 37, Contract> {
  template <class In>
  static auto made(const In& a) {
    return epilogue()
        .scaled(0.3)
        .with_bias(shared_vector<Bias>(37, 22))
        .with_residual(repeated_row<Residual>(a.extent(0), 24));
  }
  template <class Out, class In>
  static void kernel(const Execution& exec, const Out& c, const In& a, const schedule::Matmul* schedule) {
    invar::matmul<Contract>(exec, c, a, shared_matrix<T>(a.extent(1), 37, 21), made(a), schedule);
  }
  template <class Out, class In>
  static void reference(const Out& c, const In& a) {
    reference::matmul<Contract>(c, a, shared_matrix<T>(a.extent(1), 37, 21), made(a));
  }
};

/// The steps in another order: the residual before the bias.
template <class T>
struct ResidualFirst : WholeEpilogue<T> {
  template <class Out, class In>
  static void reference(const Out& c, const In& a) {
    const Matrix<float> sum("sum", c.extent(0), 37);
    reference::matmul(sum, a, shared_matrix<T>(a.extent(1), 37, 21), epilogue().scaled(0.3));
    const auto bias = shared_vector<T>(37, 22), residual = shared_vector<T>(37, 24);
    for (std::size_t i = 0; i < c.extent(0); ++i)
      for (int j = 0; j < 37; ++j)
        c(i, j) = num::narrow<T>(num::add(num::add(float(sum(i, j)), num::widen(residual(j))), num::widen(bias(j))));
  }
};

/// The sum keeps float's bits when the residual is added.
template <class T>
struct ResidualUnrounded : WholeEpilogue<T> {
  template <class Out, class In>
  static void reference(const Out& c, const In& a) {
    const Matrix<float> sum("sum", c.extent(0), 37);
    reference::matmul(sum, a, shared_matrix<T>(a.extent(1), 37, 21),
                      epilogue().scaled(0.3).with_bias(shared_vector<T>(37, 22)));
    const auto residual = shared_vector<T>(37, 24);
    for (std::size_t i = 0; i < c.extent(0); ++i)
      for (int j = 0; j < 37; ++j) c(i, j) = num::narrow<T>(num::add(float(sum(i, j)), num::widen(residual(j))));
  }
};

/// A factor and a bias in one rounding: what a compiler that contracts makes of them.
struct Contracted : WholeEpilogue<float> {
  template <class Out, class In>
  static void reference(const Out& c, const In& a) {
    const Matrix<float> sum("sum", c.extent(0), 37);
    reference::matmul(sum, a, shared_matrix<float>(a.extent(1), 37, 21));
    const auto bias = shared_vector<float>(37, 22), residual = shared_vector<float>(37, 24);
    for (std::size_t i = 0; i < c.extent(0); ++i)
      for (int j = 0; j < 37; ++j)
        c(i, j) = num::add(num::fma(float(sum(i, j)), 0.3f, float(bias(j))), float(residual(j)));
  }
};

/// The residual is c itself; its rows differ. The expected bits come from a product that is stored and read again.
template <class T, class C>
void check_in_place() {
  const std::int64_t m = 9, k = 700, n = 41;
  const auto a = shared_matrix<T>(m, k, 51), b = shared_matrix<T>(k, n, 52);
  const Matrix<C> product("product", m, n), before("before", m, n), expected("expected", m, n);
  reference::matmul(product, a, b, epilogue().scaled(2.0));
  verify::fill_random(before, 53);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      expected(i, j) = num::narrow<C>(num::add(num::widen(C(product(i, j))), num::widen(C(before(i, j)))));
  for (const auto* schedule : schedules<Matmul<T>>()) {
    const Framed<C> c(m, n, 1, 1);
    copy(c.view(), before);
    const Execution exec = executions().back();
    matmul(exec, c.view(), a, b, epilogue().scaled(2.0).with_residual(c.view()), schedule);
    exec.fence("the result is read");
    INFO(describe(exec, schedule));
    CHECK_BITS(expected, c.view());
    CHECK(c.is_intact());
  }
}

}  // namespace

TEST_CASE("matmul with an epilogue: every schedule") {
  check_schedules(WholeEpilogue<float>{});
  check_schedules(WholeEpilogue<bfloat16_t>{});
  check_schedules(WholeEpilogue<float16_t, bfloat16_t, float, bfloat16_t>{});
  check_schedules(WholeEpilogue<bfloat16_t, float, float16_t, float>{});
  check_schedules(WholeEpilogue<double, float, double, double>{});
}
TEST_CASE("matmul with an epilogue: batches and layouts") {
  check_batches(WholeEpilogue<bfloat16_t>{});
  check_layouts(WholeEpilogue<bfloat16_t>{});
}
TEST_CASE("matmul with an epilogue: the residual may be c itself") {
  check_in_place<float, float>();
  check_in_place<bfloat16_t, bfloat16_t>();
  check_in_place<float, float16_t>();
}
TEST_CASE("matmul with an epilogue: other roundings are noticed") {
  check_detects(WholeEpilogue<bfloat16_t>{}, ResidualFirst<bfloat16_t>{}, 515);
  check_detects(WholeEpilogue<bfloat16_t>{}, ResidualUnrounded<bfloat16_t>{}, 515);
  check_detects(WholeEpilogue<float>{}, Contracted{}, 515);
}
TEST_CASE("matmul with an epilogue: refusals") {
  const Execution exec;
  const Matrix<float> a("a", 4, 10), b("b", 10, 6), c("c", 4, 6), rows("rows", 5, 6);
  check_refused(c, "residual extent 0: expected 4, found 5",
                [&] { matmul(exec, c, a, b, epilogue().with_residual(rows)); });
  check_refused(c, "c: expected memory apart from residual", [&] {
    matmul(exec, Kokkos::subview(rows, std::pair(0, 4), Kokkos::ALL), a, b,
           epilogue().with_residual(Kokkos::subview(rows, std::pair(1, 5), Kokkos::ALL)));
  });
  const Kokkos::View<float*, Memory> bias("bias", 5);
  check_refused(c, "bias extent 0: expected 6, found 5",
                [&] { matmul(exec, c, a, b, epilogue().scaled(2).with_bias(bias)); });
}
