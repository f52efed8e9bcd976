// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/refusal.hpp"
#include "support/row_law.hpp"
#include "support/wrong_orders.hpp"

#include <invar/op/norm2.hpp>
#include <invar/reference/norm2.hpp>
#include <invar/verify/trace.hpp>

using namespace invar;
using namespace invar::test;

namespace {

template <class T, class R = num::accumulator_t<T>, class Contract = contract::Dot>
struct Norm2 : Reduction<T, R> {
  template <class Out, class In>
  static void kernel(const Execution& exec, const Out& out, const In& in, const schedule::Rows* schedule) {
    invar::norm2<Contract>(exec, values(out), in, schedule);
  }
  template <class Out, class In>
  static void reference(const Out& out, const In& in) {
    reference::norm2<Contract>(values(out), in);
  }
  template <class In>
  static auto host_value(const Execution& exec, const In& in) {
    return invar::norm2<Contract>(exec, in);
  }
};

}  // namespace

TEST_CASE_TEMPLATE("norm2: the row law", T, float, double, bfloat16_t, float16_t, verify::Trace) {
  check_row_law(Norm2<T>{});
  SUBCASE("vector") { check_vector(Norm2<T>{}); }
}

TEST_CASE("norm2: layouts") { check_layouts(Norm2<float>{}); }

TEST_CASE("norm2: other result types and contracts") {
  check_schedules(Norm2<bfloat16_t, bfloat16_t>{});
  check_schedules(Norm2<float, float16_t>{});
  check_schedules(Norm2<float, double>{});
  check_schedules(Norm2<verify::Trace, verify::Trace, contract::Rows<ieee, 128, 16>>{});
}

TEST_CASE_TEMPLATE("norm2: a wrong order is noticed", T, float, double, verify::Trace) {
  check_detects(Norm2<T>{}, Norm2<T, T, contract::Rows<ieee, 256, 64>>{});
  check_detects(Norm2<T>{}, Norm2<T, T, contract::Rows<ieee, 512, 32>>{});
  check_detects(Norm2<T>{}, Reversed<Norm2<T>>{});
}

TEST_CASE_TEMPLATE("norm2: special values", T, float, double, bfloat16_t, float16_t) {
  using R = num::accumulator_t<T>;
  const Framed<T> in(4, 600);
  const auto& x = in.view();
  const Matrix<R> expected("expected", 4, 1);
  verify::fill_random(x, 1);
  x(0, 599) = garbage<T>();
  expected(0, 0) = num::canonical_nan<R>();
  x(1, 3) = infinity<T>(true);
  expected(1, 0) = infinity<R>();
  fill(rows_of(x, 2, 4), T(-0.0f));
  x(3, 7) = T(3.0f);
  x(3, 570) = T(-4.0f);
  expected(3, 0) = R(5);
  check_values(Norm2<T>{}, x, expected);
  check_values(Norm2<T>{}, Framed<T>(1, 0).view(), Matrix<R>("zero", 1, 1));
}

TEST_CASE("norm2: refusals") {
  const Execution exec;
  check_reduction_refusals([&](const auto& result, const auto& x) { norm2(exec, result, x); },
                           [](const auto& result, const auto& x) { reference::norm2(result, x); });
}
