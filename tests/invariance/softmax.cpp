// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/copy.hpp"
#include "support/refusal.hpp"
#include "support/row_law.hpp"

#include <invar/op/softmax.hpp>
#include <invar/reference/softmax.hpp>
#include <invar/verify/trace.hpp>

using namespace invar;
using namespace invar::test;

namespace {

template <class T, class R = T, class Contract = contract::Softmax>
struct Softmax : Map<T, R> {
  template <class Out, class In>
  static void kernel(const Execution& exec, const Out& out, const In& in, const schedule::Rows* schedule) {
    invar::softmax<Contract>(exec, out, in, schedule);
  }
  template <class Out, class In>
  static void reference(const Out& out, const In& in) {
    reference::softmax<Contract>(out, in);
  }
};

/// The output is the input.
template <class T>
struct InPlace : Softmax<T> {
  template <class Out, class In>
  static void kernel(const Execution& exec, const Out& out, const In& in, const schedule::Rows* schedule) {
    copy(out, in);
    invar::softmax(exec, out, out, schedule);
  }
};

}  // namespace

TEST_CASE_TEMPLATE("softmax: the row law", T, float, bfloat16_t, float16_t, verify::Trace) {
  check_row_law(Softmax<T>{});
}

TEST_CASE("softmax: in place") {
  check_schedules(InPlace<float>{});
  check_schedules(InPlace<bfloat16_t>{});
}

TEST_CASE("softmax: layouts") { check_layouts(Softmax<float>{}); }

TEST_CASE("softmax: other result types and contracts") {
  check_schedules(Softmax<bfloat16_t, float>{});
  check_schedules(Softmax<float, float16_t>{});
  check_schedules(Softmax<verify::Trace, verify::Trace, contract::Rows<ieee, 128, 16>>{});
}

TEST_CASE_TEMPLATE("softmax: a wrong order is noticed", T, float, verify::Trace) {
  check_detects(Softmax<T>{}, Softmax<T, T, contract::Rows<ieee, 256, 64>>{});
  check_detects(Softmax<T>{}, Softmax<T, T, contract::Rows<ieee, 512, 32>>{});
}

TEST_CASE_TEMPLATE("softmax: special values", T, float, bfloat16_t, float16_t) {
  const Framed<T> in(4, 1300);
  const auto& x = in.view();
  const Matrix<T> expected("expected", 4, 1300);
  const T nan(num::canonical_nan<float>());
  verify::fill_random(x, 1);
  x(0, 1299) = garbage<T>();
  fill(rows_of(expected, 0, 1), nan);
  x(1, 3) = infinity<T>();
  x(1, 1200) = infinity<T>(true);
  x(1, 70) = x(1, 1299) = T(100.0f);
  // +∞ beside finite elements: a factor of 1/∞.
  fill(rows_of(expected, 1, 2), T(0.0f));
  expected(1, 3) = expected(1, 70) = expected(1, 1299) = nan;
  fill(rows_of(x, 2, 4), infinity<T>(true));
  fill(rows_of(expected, 2, 3), nan);
  x(3, 900) = T(-2.5f);
  fill(rows_of(expected, 3, 4), T(0.0f));
  expected(3, 900) = T(1.0f);
  check_values(Softmax<T>{}, x, expected);
}

TEST_CASE("softmax: refusals") {
  const Execution exec;
  check_map_refusals([&](const auto& y, const auto& x) { softmax(exec, y, x); },
                     [](const auto& y, const auto& x) { reference::softmax(y, x); });
}
