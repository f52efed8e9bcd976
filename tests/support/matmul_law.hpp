// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tests of matmul for one element type; each type is a program of its own.
#ifndef INVAR_TESTS_SUPPORT_MATMUL_LAW_HPP
#define INVAR_TESTS_SUPPORT_MATMUL_LAW_HPP

#include "copy.hpp"
#include "refusal.hpp"
#include "row_law.hpp"

#include <invar/op/matmul.hpp>
#include <invar/reference/matmul.hpp>

#include <cstdint>
#include <utility>

namespace invar::test {

/// A row of a gives a row of c; b is shared. Columns: the extent of c.
template <class T, class R = num::accumulator_t<T>, class B = T, int Columns = 37,
          class Contract = contract::DefaultMatmul>
struct Matmul : Map<T, R> {
  static constexpr const auto& table = schedule::matmul_table<Execution>;
  static constexpr std::int64_t long_row = 1100;
  static std::int64_t out_columns(std::int64_t) { return Columns; }

  template <class Out, class In>
  static void kernel(const Execution& exec, const Out& c, const In& a, const schedule::Matmul* schedule) {
    invar::matmul<Contract>(exec, c, a, shared_matrix<B>(a.extent(1), Columns, 21), schedule);
  }
  template <class Out, class In>
  static void reference(const Out& c, const In& a) {
    reference::matmul<Contract>(c, a, shared_matrix<B>(a.extent(1), Columns, 21));
  }
};

/// With a bias.
template <class T, class R = T>
struct BiasedMatmul : Matmul<T, R> {
  template <class Out, class In>
  static void kernel(const Execution& exec, const Out& c, const In& a, const schedule::Matmul* schedule) {
    invar::matmul(exec, c, a, shared_matrix<T>(a.extent(1), 37, 21), shared_vector<T>(37, 22), schedule);
  }
  template <class Out, class In>
  static void reference(const Out& c, const In& a) {
    reference::matmul(c, a, shared_matrix<T>(a.extent(1), 37, 21), shared_vector<T>(37, 22));
  }
};

/// The weight stored [N, K], as linear layers keep it.
template <class T>
struct TransposedMatmul : Matmul<T> {
  template <class Out, class In>
  static void kernel(const Execution& exec, const Out& c, const In& a, const schedule::Matmul* schedule) {
    invar::matmul(exec, c, a, transposed(shared_matrix<T>(37, a.extent(1), 23)), schedule);
  }
  template <class Out, class In>
  static void reference(const Out& c, const In& a) {
    reference::matmul(c, a, transposed(shared_matrix<T>(37, a.extent(1), 23)));
  }
};

/// b packed by the caller; on a GPU, which has no use for that, as it is.
template <class T, class R = num::accumulator_t<T>, class B = T, class Contract = contract::DefaultMatmul>
struct PackedMatmul : Matmul<T, R, B, 37, Contract> {
  template <class Out, class In>
  static void kernel(const Execution& exec, const Out& c, const In& a, const schedule::Matmul* schedule) {
    const auto b = shared_matrix<B>(a.extent(1), 37, 21);
    if constexpr (schedule::runs_on_host_v<Execution>)
      invar::matmul<Contract>(exec, c, a, pack(exec, b), epilogue(), schedule);
    else
      invar::matmul<Contract>(exec, c, a, b, schedule);
  }
};

/// Every schedule and batch size with a packed b, and the values that it holds.
template <class T>
void check_packed_matmul() {
  check_schedules(PackedMatmul<T>{});
  check_batches(PackedMatmul<T>{});
  check_empty(PackedMatmul<T>{});
  if constexpr (schedule::runs_on_host_v<Execution>) {
    const auto b = shared_matrix<T>(700, 37, 21);
    const auto packed = pack(executions().back(), b);
    executions().back().fence("packed is read");
    const Matrix<T> found("found", 700, 37);
    for (int k = 0; k < 700; ++k)
      for (int j = 0; j < 37; ++j) found(k, j) = packed(k, j);
    CHECK_BITS(b, found);
    // Beyond the last column lie zeros.
    const Matrix<T> padding("padding", 700, 27), zeros("zeros", 700, 27);
    fill(zeros, T(0));
    for (int k = 0; k < 700; ++k)
      for (int j = 37; j < 64; ++j) padding(k, j - 37) = packed(k, j);
    CHECK_BITS(zeros, padding);
  }
}

/// A packed weight that is taken for too large to wait in a cache, with few rows.
template <class T>
void check_large_packed_matmul() {
  if constexpr (schedule::runs_on_host_v<Execution>) {
    using R = num::accumulator_t<T>;
    const int k = 1030, columns = 300, rows = 7;
    const auto a = shared_matrix<T>(rows, k, 31);
    const auto b = shared_matrix<T>(k, columns, 32);
    const Matrix<R> expected("expected", rows, columns);
    reference::matmul(expected, a, b);
    for (const auto& exec : executions()) {
      const auto packed = pack(exec, b);
      for (int m = 1; m <= rows; ++m) {
        INFO("m = " << m);
        const auto first = std::pair(0, m);
        const Matrix<R> found("found", m, columns);
        matmul(exec, found, Kokkos::subview(a, first, Kokkos::ALL), packed);
        exec.fence("found is read");
        CHECK_BITS(Kokkos::subview(expected, first, Kokkos::ALL), found);
      }
    }
  }
}

/// The chain over descending k.
template <class T>
struct DescendingMatmul : Matmul<T> {
  template <class Out, class In>
  static void reference(const Out& c, const In& a) {
    const auto k = static_cast<std::int64_t>(a.extent(1));
    Matrix<T> reversed_a("a", a.extent(0), k), reversed_b("b", k, 37);
    const auto b = shared_matrix<T>(k, 37, 21);
    for (std::int64_t p = 0; p < k; ++p) {
      for (std::size_t i = 0; i < a.extent(0); ++i) reversed_a(i, p) = a(i, k - 1 - p);
      for (int j = 0; j < 37; ++j) reversed_b(p, j) = b(k - 1 - p, j);
    }
    reference::matmul(c, reversed_a, reversed_b);
  }
};

/// A sum of two halves: the split follows the extent instead of absolute positions.
template <class T>
struct CountSplitMatmul : Matmul<T> {
  template <class Out, class In>
  static void reference(const Out& c, const In& a) {
    const auto k = static_cast<std::int64_t>(a.extent(1));
    const auto b = shared_matrix<T>(k, 37, 21);
    for (std::size_t i = 0; i < c.extent(0); ++i)
      for (std::size_t j = 0; j < 37; ++j) {
        using Value = num::accumulator_t<T>;
        Value half[2] = {Value(0), Value(0)};
        for (std::int64_t p = 0; p < k; ++p)
          half[2 * p >= k] = num::fma(num::widen(T(a(i, p))), num::widen(T(b(p, j))), half[2 * p >= k]);
        c(i, j) = num::add(half[0], half[1]);
      }
  }
};

/// Every number of columns around the tiles', with every schedule, for b in several layouts.
template <class T>
void check_matmul_columns() {
  using R = num::accumulator_t<T>;
  const std::int64_t k = 515;
  for (const std::int64_t columns :
       by_size<std::int64_t>({1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 130}, {1, 17, 64, 65}))
    for (const std::int64_t rows : by_size<std::int64_t>({1, 2, 3, 4, 5, 7, 8, 9, 31, 33, 65}, {1, 3, 9})) {
      const auto a = shared_matrix<T>(rows, k, 31), b = shared_matrix<T>(k, columns, 32);
      const Framed<T> padded(k, columns, 3, 2);
      copy(padded.view(), b);
      Kokkos::View<T**, Kokkos::LayoutLeft, Memory> left("b", k, columns);
      copy(left, b);
      Matrix<R> expected("expected", rows, columns);
      reference::matmul(expected, a, b);
      for (const schedule::Matmul& schedule : schedule::matmul_table<Execution>) {
        INFO(rows, " rows, ", columns, " columns, schedule ", schedule.name);
        const auto check = [&](const auto& any_b) {
          const Framed<R> c(rows, columns, 1, 1);
          matmul(executions().back(), c.view(), a, any_b, &schedule);
          CHECK_BITS(expected, c.view());
          CHECK(c.is_intact());
        };
        check(b);
        check(typename Framed<T>::View::const_type(padded.view()));
        check(left);
        if constexpr (schedule::runs_on_host_v<Execution>) {
          const Framed<R> c(rows, columns, 1, 1);
          matmul(executions().back(), c.view(), a, pack(executions().back(), padded.view()), epilogue(), &schedule);
          CHECK_BITS(expected, c.view());
          CHECK(c.is_intact());
        }
      }
    }
}

/// Negative controls: other leaves, another direction, a split by count.
template <class T>
void check_matmul_controls() {
  using R = num::accumulator_t<T>;
  check_detects(Matmul<T>{}, Matmul<T, R, T, 37, contract::Matmul<ieee, 256>>{}, 1100);
  check_detects(Matmul<T>{}, Matmul<T, R, T, 37, contract::Matmul<ieee, 1 << 20>>{}, 1100);
  check_detects(Matmul<T>{}, DescendingMatmul<T>{}, 1100);
  check_detects(Matmul<T>{}, CountSplitMatmul<T>{}, 1100);
}

/// NaN, infinities and zeros, known without the specification.
template <class T>
void check_matmul_special_values() {
  using R = num::accumulator_t<T>;
  const Framed<T> in(4, 600);
  const auto& a = in.view();
  const Matrix<R> expected("expected", 4, 37);
  verify::fill_random(a, 1);
  a(0, 599) = garbage<T>();
  fill(rows_of(expected, 0, 1), num::canonical_nan<R>());
  const auto b = shared_matrix<T>(600, 37, 21);
  a(1, 3) = infinity<T>();
  for (int j = 0; j < 37; ++j) expected(1, j) = infinity<R>(num::is_negative(num::widen(b(3, j))));
  a(2, 3) = infinity<T>();
  a(2, 4) = infinity<T>(true);
  for (int j = 0; j < 37; ++j)
    expected(2, j) = num::is_negative(num::widen(b(3, j))) == num::is_negative(num::widen(b(4, j)))
                         ? num::canonical_nan<R>()
                         : infinity<R>(num::is_negative(num::widen(b(3, j))));
  fill(rows_of(a, 3, 4), T(-0.0f));
  check_values(Matmul<T>{}, a, expected);
  check_values(Matmul<T>{}, Framed<T>(2, 0).view(), Matrix<R>("zero", 2, 37));
}

/// What is refused, and that nothing is written then.
inline void check_matmul_refusals() {
  const Execution exec;
  const Matrix<float> a("a", 4, 10), b("b", 10, 6), c("c", 4, 6), wrong("wrong", 3, 7);
  Kokkos::View<float*, Memory> bias("bias", 5);
  check_refused(wrong, "c extent 0: expected 4, found 3", [&] { matmul(exec, wrong, a, b); });
  check_refused(c, "c extent 1: expected 7, found 6",
                [&] { matmul(exec, c, a, Kokkos::View<float**, Memory>("b", 10, 7)); });
  check_refused(c, "b extent 0: expected 10, found 3",
                [&] { matmul(exec, c, a, Kokkos::subview(b, std::pair(0, 3), Kokkos::ALL)); });
  check_refused(c, "bias extent 0: expected 6, found 5", [&] { matmul(exec, c, a, b, bias); });
  check_refused(c, "c: expected memory apart from bias",
                [&] { matmul(exec, c, a, b, Kokkos::subview(c, 1, Kokkos::ALL)); });
  const Matrix<float> square("square", 6, 6), other("other", 6, 6);
  check_refused(square, "c: expected memory apart from a", [&] { matmul(exec, square, square, other); });
  check_refused(square, "c: expected memory apart from b", [&] { matmul(exec, square, other, square); });
  const schedule::Matmul unknown{"unknown", 3, 5, 3};
  check_refused(c, "an entry of schedule::matmul_table", [&] { matmul(exec, c, a, b, &unknown); });
}

/// The same with a packed weight, on a host.
template <class Exec>
void check_packed_matmul_refusals(const Exec& exec) {
  if constexpr (schedule::runs_on_host_v<Exec>) {
    const Matrix<float> a("a", 4, 10), b("b", 10, 6), c("c", 4, 6), wrong("wrong", 3, 7);
    const Kokkos::View<float*, Memory> bias("bias", 5);
    const schedule::Matmul unknown{"unknown", 3, 5, 3};
    const auto packed = pack(exec, b);
    check_refused(wrong, "c extent 0: expected 4, found 3", [&] { matmul(exec, wrong, a, packed); });
    check_refused(c, "c extent 1: expected 7, found 6", [&] { matmul(exec, c, a, PackedMatrix<float>(10, 7)); });
    check_refused(c, "b extent 0: expected 10, found 3", [&] { matmul(exec, c, a, PackedMatrix<float>(3, 6)); });
    check_refused(c, "bias extent 0: expected 6, found 5",
                  [&] { matmul(exec, c, a, packed, epilogue().with_bias(bias)); });
    check_refused(c, "an entry of schedule::matmul_table", [&] { matmul(exec, c, a, packed, epilogue(), &unknown); });
    check_refused(c, "pack: b extent 1: expected 7, found 6", [&] { pack(exec, PackedMatrix<float>(10, 7), b); });
  }
}

}  // namespace invar::test

#endif
