// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/refusal.hpp"
#include "support/row_law.hpp"
#include "support/wrong_orders.hpp"

#include <invar/op/dot.hpp>
#include <invar/reference/dot.hpp>
#include <invar/verify/trace.hpp>

using namespace invar;
using namespace invar::test;

namespace {

template <class T, class R = num::accumulator_t<T>, class Contract = contract::Dot>
struct Dot : Reduction<T, R, 2> {
  template <class Out, class In>
  static void kernel(const Execution& exec, const Out& out, const In& in, const schedule::Rows* schedule) {
    invar::dot<Contract>(exec, values(out), part(in, 0, 2), part(in, 1, 2), schedule);
  }
  template <class Out, class In>
  static void reference(const Out& out, const In& in) {
    reference::dot<Contract>(values(out), part(in, 0, 2), part(in, 1, 2));
  }
  template <class In>
  static auto host_value(const Execution& exec, const In& in) {
    return invar::dot<Contract>(exec, part(in, 0, 2), part(in, 1, 2));
  }
};

}  // namespace

TEST_CASE_TEMPLATE("dot: the row law", T, float, double, bfloat16_t, float16_t, verify::Trace) {
  check_row_law(Dot<T>{});
  SUBCASE("vector") { check_vector(Dot<T>{}); }
}

TEST_CASE("dot: layouts") { check_layouts(Dot<float>{}); }

TEST_CASE("dot: other result types and contracts") {
  check_schedules(Dot<bfloat16_t, bfloat16_t>{});
  check_schedules(Dot<float, float16_t>{});
  check_schedules(Dot<float, double>{});
  check_schedules(Dot<verify::Trace, verify::Trace, contract::Rows<ieee, 128, 16>>{});
}

TEST_CASE_TEMPLATE("dot: a wrong order is noticed", T, float, double, verify::Trace) {
  check_detects(Dot<T>{}, Dot<T, T, contract::Rows<ieee, 256, 64>>{});
  check_detects(Dot<T>{}, Dot<T, T, contract::Rows<ieee, 512, 32>>{});
  check_detects(Dot<T>{}, Reversed<Dot<T>>{});
}

TEST_CASE("dot: a 16-bit type may meet float, and x may be y") {
  const Execution exec;
  Kokkos::View<float*, Memory> expected("expected", 3), result("result", 3);
  Matrix<float> x("x", 3, 777);
  Matrix<bfloat16_t> y("y", 3, 777);
  verify::fill_random(x, 1);
  verify::fill_random(y, 2);
  reference::dot(expected, x, y);
  dot(exec, result, x, y);
  CHECK_BITS(expected, result);
  reference::dot(expected, y, x);
  dot(exec, result, y, x);
  CHECK_BITS(expected, result);
  reference::dot(expected, x, x);
  dot(exec, result, x, x);
  CHECK_BITS(expected, result);
}

TEST_CASE_TEMPLATE("dot: special values", T, float, double, bfloat16_t, float16_t) {
  using R = num::accumulator_t<T>;
  const Framed<T> in(4, 2 * 600);
  const auto x = part(in.view(), 0, 2), y = part(in.view(), 1, 2);
  const Matrix<R> expected("expected", 4, 1);
  verify::fill_random(in.view(), 1);
  y(0, 599) = garbage<T>();
  expected(0, 0) = num::canonical_nan<R>();
  x(1, 3) = infinity<T>();
  y(1, 3) = T(-2.0f);
  expected(1, 0) = infinity<R>(true);
  x(2, 3) = infinity<T>();
  y(2, 3) = T(0.0f);
  expected(2, 0) = num::canonical_nan<R>();
  for (int j = 0; j < 600; ++j) {
    x(3, j) = T(-0.0f);
    y(3, j) = T(1.0f);
  }
  expected(3, 0) = R(-0.0f);
  check_values(Dot<T>{}, in.view(), expected);
  check_values(Dot<T>{}, Framed<T>(1, 0).view(), Matrix<R>("zero", 1, 1));
}

TEST_CASE("dot: refusals") {
  const Execution exec;
  Matrix<float> other("other", 4, 10), x("x", 4, 10), fewer_rows("y", 3, 10), more_columns("y", 4, 11);
  Kokkos::View<float*, Memory> result("result", 4);
  check_reduction_refusals(
      [&](const auto& r, const auto& a) {
        dot(exec, r, a, Kokkos::subview(other, Kokkos::ALL, std::pair(0, static_cast<int>(a.extent(1)))));
      },
      [&](const auto& r, const auto& a) {
        reference::dot(r, a, Kokkos::subview(other, Kokkos::ALL, std::pair(0, static_cast<int>(a.extent(1)))));
      });
  check_refused(result, "y extent 0: expected 4, found 3", [&] { dot(exec, result, x, fewer_rows); });
  check_refused(result, "y extent 1: expected 10, found 11", [&] { dot(exec, result, x, more_columns); });
  check_refused(other, "result: expected memory apart from y",
                [&] { dot(exec, Kokkos::subview(other, Kokkos::ALL, 3), x, other); });
}
