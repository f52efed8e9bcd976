// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/refusal.hpp"
#include "support/row_law.hpp"
#include "support/wrong_orders.hpp"

#include <invar/op/logsumexp.hpp>
#include <invar/reference/logsumexp.hpp>
#include <invar/verify/trace.hpp>

using namespace invar;
using namespace invar::test;

namespace {

template <class T, class R = num::accumulator_t<T>, class Contract = contract::LogSumExp>
struct Logsumexp : Reduction<T, R> {
  template <class Out, class In>
  static void kernel(const Execution& exec, const Out& out, const In& in, const schedule::Rows* schedule) {
    invar::logsumexp<Contract>(exec, values(out), in, schedule);
  }
  template <class Out, class In>
  static void reference(const Out& out, const In& in) {
    reference::logsumexp<Contract>(values(out), in);
  }
  template <class In>
  static auto host_value(const Execution& exec, const In& in) {
    return invar::logsumexp<Contract>(exec, in);
  }
};

}  // namespace

TEST_CASE_TEMPLATE("logsumexp: the row law", T, float, bfloat16_t, float16_t, verify::Trace) {
  check_row_law(Logsumexp<T>{});
  SUBCASE("vector") { check_vector(Logsumexp<T>{}); }
}

TEST_CASE("logsumexp: layouts") { check_layouts(Logsumexp<float>{}); }

TEST_CASE("logsumexp: other result types and contracts") {
  check_schedules(Logsumexp<bfloat16_t, bfloat16_t>{});
  check_schedules(Logsumexp<float, float16_t>{});
  check_schedules(Logsumexp<verify::Trace, verify::Trace, contract::Rows<ieee, 128, 16>>{});
}

TEST_CASE_TEMPLATE("logsumexp: a wrong order is noticed", T, float, verify::Trace) {
  check_detects(Logsumexp<T>{}, Logsumexp<T, T, contract::Rows<ieee, 256, 64>>{});
  check_detects(Logsumexp<T>{}, Logsumexp<T, T, contract::Rows<ieee, 512, 32>>{});
  check_detects(Logsumexp<T>{}, Reversed<Logsumexp<T>>{});
}

TEST_CASE_TEMPLATE("logsumexp: special values", T, float, bfloat16_t, float16_t) {
  const Framed<T> in(7, 1300);
  const auto& x = in.view();
  const Matrix<float> expected("expected", 7, 1);
  verify::fill_random(x, 1);
  x(0, 1299) = garbage<T>();
  x(0, 1) = infinity<T>();
  expected(0, 0) = num::canonical_nan<float>();
  x(1, 700) = infinity<T>();
  x(1, 701) = infinity<T>(true);
  expected(1, 0) = infinity<float>();
  fill(rows_of(x, 2, 4), infinity<T>(true));
  expected(2, 0) = infinity<float>(true);
  x(3, 900) = T(-2.5f);
  expected(3, 0) = -2.5f;
  // The largest finite values: nothing overflows.
  fill(rows_of(x, 4, 5), infinity<T>(true));
  x(4, 3) = T(60000.0f);
  x(4, 1100) = T(-60000.0f);
  expected(4, 0) = static_cast<float>(T(60000.0f));
  x(5, 0) = x(5, 1299) = infinity<T>();
  expected(5, 0) = infinity<float>();
  fill(rows_of(x, 6, 7), garbage<T>());
  expected(6, 0) = num::canonical_nan<float>();
  check_values(Logsumexp<T>{}, x, expected);
  const Matrix<float> none("none", 1, 1);
  none(0, 0) = infinity<float>(true);
  check_values(Logsumexp<T>{}, Framed<T>(1, 0).view(), none);
}

TEST_CASE("logsumexp: refusals") {
  const Execution exec;
  check_reduction_refusals([&](const auto& result, const auto& x) { logsumexp(exec, result, x); },
                           [](const auto& result, const auto& x) { reference::logsumexp(result, x); });
}
