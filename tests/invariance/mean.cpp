// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/refusal.hpp"
#include "support/row_law.hpp"
#include "support/wrong_orders.hpp"

#include <invar/op/mean.hpp>
#include <invar/reference/mean.hpp>
#include <invar/verify/trace.hpp>

using namespace invar;
using namespace invar::test;

namespace {

template <class T, class R = num::accumulator_t<T>, class Contract = contract::Sum>
struct Mean : Reduction<T, R> {
  template <class Out, class In>
  static void kernel(const Execution& exec, const Out& out, const In& in, const schedule::Rows* schedule) {
    invar::mean<Contract>(exec, values(out), in, schedule);
  }
  template <class Out, class In>
  static void reference(const Out& out, const In& in) {
    reference::mean<Contract>(values(out), in);
  }
  template <class In>
  static auto host_value(const Execution& exec, const In& in) {
    return invar::mean<Contract>(exec, in);
  }
};

}  // namespace

TEST_CASE_TEMPLATE("mean: the row law", T, float, double, bfloat16_t, float16_t, verify::Trace) {
  check_row_law(Mean<T>{});
  SUBCASE("vector") { check_vector(Mean<T>{}); }
}

TEST_CASE("mean: layouts") { check_layouts(Mean<float>{}); }

TEST_CASE("mean: other result types and contracts") {
  check_schedules(Mean<bfloat16_t, bfloat16_t>{});
  check_schedules(Mean<float, float16_t>{});
  check_schedules(Mean<float, double>{});
  check_schedules(Mean<verify::Trace, verify::Trace, contract::Rows<ieee, 128, 16>>{});
}

TEST_CASE_TEMPLATE("mean: a wrong order is noticed", T, float, double, verify::Trace) {
  check_detects(Mean<T>{}, Mean<T, T, contract::Rows<ieee, 256, 64>>{});
  check_detects(Mean<T>{}, Mean<T, T, contract::Rows<ieee, 512, 32>>{});
  check_detects(Mean<T>{}, Reversed<Mean<T>>{});
}

TEST_CASE_TEMPLATE("mean: special values", T, float, double, bfloat16_t, float16_t) {
  using R = num::accumulator_t<T>;
  const Framed<T> in(4, 600);
  const auto& x = in.view();
  const Matrix<R> expected("expected", 4, 1);
  verify::fill_random(x, 1);
  x(0, 599) = garbage<T>();
  expected(0, 0) = num::canonical_nan<R>();
  x(1, 3) = infinity<T>();
  expected(1, 0) = infinity<R>();
  fill(rows_of(x, 2, 3), T(-0.0f));
  expected(2, 0) = R(-0.0f);
  fill(rows_of(x, 3, 4), T(0.75f));
  expected(3, 0) = R(0.75f);
  check_values(Mean<T>{}, x, expected);
  const Matrix<R> nan("nan", 1, 1);
  nan(0, 0) = num::canonical_nan<R>();
  check_values(Mean<T>{}, Framed<T>(1, 0).view(), nan);
}

TEST_CASE("mean: refusals") {
  const Execution exec;
  check_reduction_refusals([&](const auto& result, const auto& x) { mean(exec, result, x); },
                           [](const auto& result, const auto& x) { reference::mean(result, x); });
}
