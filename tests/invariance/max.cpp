// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/refusal.hpp"
#include "support/row_law.hpp"
#include "support/wrong_orders.hpp"

#include <invar/op/max.hpp>
#include <invar/reference/max.hpp>
#include <invar/verify/trace.hpp>

using namespace invar;
using namespace invar::test;

namespace {

template <class T, class R = num::accumulator_t<T>, class Contract = contract::Extremum>
struct Max : Reduction<T, R> {
  template <class Out, class In>
  static void kernel(const Execution& exec, const Out& out, const In& in, const schedule::Rows* schedule) {
    invar::max<Contract>(exec, values(out), in, schedule);
  }
  template <class Out, class In>
  static void reference(const Out& out, const In& in) {
    reference::max<Contract>(values(out), in);
  }
  template <class In>
  static auto host_value(const Execution& exec, const In& in) {
    return invar::max<Contract>(exec, in);
  }
};

}  // namespace

TEST_CASE_TEMPLATE("max: the row law", T, float, double, bfloat16_t, float16_t, verify::Trace) {
  check_row_law(Max<T>{});
  SUBCASE("vector") { check_vector(Max<T>{}); }
}

TEST_CASE("max: layouts") { check_layouts(Max<float>{}); }

TEST_CASE("max: other result types") {
  check_schedules(Max<bfloat16_t, bfloat16_t>{});
  check_schedules(Max<float, float16_t>{});
}

// No order can change the bits, so the controls are a lost element and another rule for zeros.
TEST_CASE_TEMPLATE("max: a wrong kernel is noticed", T, float, double, bfloat16_t, float16_t, verify::Trace) {
  check_detects(Max<T>{}, WithoutLast<Max<T>>{}, 3);
}

TEST_CASE_TEMPLATE("max: special values", T, float, double, bfloat16_t, float16_t) {
  using R = num::accumulator_t<T>;
  const Framed<T> in(6, 600);
  const auto& x = in.view();
  const Matrix<R> expected("expected", 6, 1), careless("careless", 6, 1);
  verify::fill_random(x, 1);
  x(0, 599) = garbage<T>();
  x(0, 1) = infinity<T>();
  expected(0, 0) = num::canonical_nan<R>();
  x(1, 3) = infinity<T>();
  expected(1, 0) = infinity<R>();
  fill(rows_of(x, 2, 3), infinity<T>(true));
  expected(2, 0) = infinity<R>(true);
  // Zeros of both signs, in either order.
  fill(rows_of(x, 3, 5), T(-0.0f));
  x(3, 0) = T(0.0f);
  x(4, 599) = T(0.0f);
  expected(3, 0) = expected(4, 0) = R(0.0f);
  fill(rows_of(x, 5, 6), T(-0.0f));
  expected(5, 0) = R(-0.0f);
  check_values(Max<T>{}, x, expected);

  reference::for_each_row(values(careless), x, [](std::int64_t n, const auto& element) {
    auto best = element(0);
    for (std::int64_t i = 1; i < n; ++i) best = element(i) > best ? element(i) : best;
    return best;
  });
  CHECK_BITS_DIFFER(expected, careless);

  const Matrix<R> none("none", 1, 1);
  none(0, 0) = infinity<R>(true);
  check_values(Max<T>{}, Framed<T>(1, 0).view(), none);
}

TEST_CASE_TEMPLATE("max: a NaN in any place", T, float, double, bfloat16_t) { check_nan_in_any_place(Max<T>{}); }

TEST_CASE("max: refusals") {
  const Execution exec;
  check_reduction_refusals([&](const auto& result, const auto& x) { max(exec, result, x); },
                           [](const auto& result, const auto& x) { reference::max(result, x); });
}
