// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/refusal.hpp"
#include "support/row_law.hpp"
#include "support/wrong_orders.hpp"

#include <invar/op/min.hpp>
#include <invar/reference/min.hpp>
#include <invar/verify/trace.hpp>

using namespace invar;
using namespace invar::test;

namespace {

template <class T, class R = num::accumulator_t<T>, class Contract = contract::Extremum>
struct Min : Reduction<T, R> {
  template <class Out, class In>
  static void kernel(const Execution& exec, const Out& out, const In& in, const schedule::Rows* schedule) {
    invar::min<Contract>(exec, values(out), in, schedule);
  }
  template <class Out, class In>
  static void reference(const Out& out, const In& in) {
    reference::min<Contract>(values(out), in);
  }
  template <class In>
  static auto host_value(const Execution& exec, const In& in) {
    return invar::min<Contract>(exec, in);
  }
};

}  // namespace

TEST_CASE_TEMPLATE("min: the row law", T, float, double, bfloat16_t, float16_t, verify::Trace) {
  check_row_law(Min<T>{});
  SUBCASE("vector") { check_vector(Min<T>{}); }
}

TEST_CASE("min: layouts") { check_layouts(Min<float>{}); }

TEST_CASE("min: other result types") {
  check_schedules(Min<bfloat16_t, bfloat16_t>{});
  check_schedules(Min<float, float16_t>{});
}

// No order can change the bits, so the controls are a lost element and another rule for zeros.
TEST_CASE_TEMPLATE("min: a wrong kernel is noticed", T, float, double, bfloat16_t, float16_t, verify::Trace) {
  check_detects(Min<T>{}, WithoutLast<Min<T>>{}, 3);
}

TEST_CASE_TEMPLATE("min: special values", T, float, double, bfloat16_t, float16_t) {
  using R = num::accumulator_t<T>;
  const Framed<T> in(6, 600);
  const auto& x = in.view();
  const Matrix<R> expected("expected", 6, 1), careless("careless", 6, 1);
  verify::fill_random(x, 1);
  x(0, 599) = garbage<T>();
  x(0, 1) = infinity<T>();
  expected(0, 0) = num::canonical_nan<R>();
  x(1, 3) = infinity<T>(true);
  expected(1, 0) = infinity<R>(true);
  fill(rows_of(x, 2, 3), infinity<T>());
  expected(2, 0) = infinity<R>();
  // Zeros of both signs, in either order.
  fill(rows_of(x, 3, 5), T(0.0f));
  x(3, 0) = T(-0.0f);
  x(4, 599) = T(-0.0f);
  expected(3, 0) = expected(4, 0) = R(-0.0f);
  fill(rows_of(x, 5, 6), T(0.0f));
  expected(5, 0) = R(0.0f);
  check_values(Min<T>{}, x, expected);

  reference::for_each_row(values(careless), x, [](std::int64_t n, const auto& element) {
    auto best = element(0);
    for (std::int64_t i = 1; i < n; ++i) best = element(i) < best ? element(i) : best;
    return best;
  });
  CHECK_BITS_DIFFER(expected, careless);

  const Matrix<R> none("none", 1, 1);
  none(0, 0) = infinity<R>();
  check_values(Min<T>{}, Framed<T>(1, 0).view(), none);
}

TEST_CASE_TEMPLATE("min: a NaN in any place", T, float, double, bfloat16_t) { check_nan_in_any_place(Min<T>{}); }

TEST_CASE("min: refusals") {
  const Execution exec;
  check_reduction_refusals([&](const auto& result, const auto& x) { min(exec, result, x); },
                           [](const auto& result, const auto& x) { reference::min(result, x); });
}
