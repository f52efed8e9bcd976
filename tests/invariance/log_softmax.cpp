// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/copy.hpp"
#include "support/refusal.hpp"
#include "support/row_law.hpp"

#include <invar/op/log_softmax.hpp>
#include <invar/reference/log_softmax.hpp>
#include <invar/verify/trace.hpp>

using namespace invar;
using namespace invar::test;

namespace {

template <class T, class R = T, class Contract = contract::Softmax>
struct LogSoftmax : Map<T, R> {
  template <class Out, class In>
  static void kernel(const Execution& exec, const Out& out, const In& in, const schedule::Rows* schedule) {
    invar::log_softmax<Contract>(exec, out, in, schedule);
  }
  template <class Out, class In>
  static void reference(const Out& out, const In& in) {
    reference::log_softmax<Contract>(out, in);
  }
};

/// The output is the input.
template <class T>
struct InPlace : LogSoftmax<T> {
  template <class Out, class In>
  static void kernel(const Execution& exec, const Out& out, const In& in, const schedule::Rows* schedule) {
    copy(out, in);
    invar::log_softmax(exec, out, out, schedule);
  }
};

}  // namespace

TEST_CASE_TEMPLATE("log_softmax: the row law", T, float, bfloat16_t, float16_t, verify::Trace) {
  check_row_law(LogSoftmax<T>{});
}

TEST_CASE("log_softmax: in place") {
  check_schedules(InPlace<float>{});
  check_schedules(InPlace<bfloat16_t>{});
}

TEST_CASE("log_softmax: layouts") { check_layouts(LogSoftmax<float>{}); }

TEST_CASE("log_softmax: other result types and contracts") {
  check_schedules(LogSoftmax<bfloat16_t, float>{});
  check_schedules(LogSoftmax<float, float16_t>{});
  check_schedules(LogSoftmax<verify::Trace, verify::Trace, contract::Rows<ieee, 128, 16>>{});
}

TEST_CASE_TEMPLATE("log_softmax: a wrong order is noticed", T, float, verify::Trace) {
  check_detects(LogSoftmax<T>{}, LogSoftmax<T, T, contract::Rows<ieee, 256, 64>>{});
  check_detects(LogSoftmax<T>{}, LogSoftmax<T, T, contract::Rows<ieee, 512, 32>>{});
}

TEST_CASE_TEMPLATE("log_softmax: special values", T, float, bfloat16_t, float16_t) {
  const Framed<T> in(4, 1300);
  const auto& x = in.view();
  const Matrix<T> expected("expected", 4, 1300);
  const T nan(num::canonical_nan<float>());
  verify::fill_random(x, 1);
  x(0, 1299) = garbage<T>();
  fill(rows_of(expected, 0, 1), nan);
  x(1, 3) = infinity<T>();
  x(1, 1200) = infinity<T>(true);
  // +∞ beside finite elements.
  fill(rows_of(expected, 1, 2), infinity<T>(true));
  expected(1, 3) = nan;
  fill(rows_of(x, 2, 4), infinity<T>(true));
  fill(rows_of(expected, 2, 3), nan);
  x(3, 900) = T(-2.5f);
  fill(rows_of(expected, 3, 4), infinity<T>(true));
  expected(3, 900) = T(0.0f);
  check_values(LogSoftmax<T>{}, x, expected);
}

TEST_CASE("log_softmax: refusals") {
  const Execution exec;
  check_map_refusals([&](const auto& y, const auto& x) { log_softmax(exec, y, x); },
                     [](const auto& y, const auto& x) { reference::log_softmax(y, x); });
}
