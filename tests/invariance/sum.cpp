// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/refusal.hpp"
#include "support/row_law.hpp"
#include "support/wrong_orders.hpp"

#include <invar/op/sum.hpp>
#include <invar/reference/sum.hpp>
#include <invar/verify/trace.hpp>

using namespace invar;
using namespace invar::test;

namespace {

template <class T, class R = num::accumulator_t<T>, class Contract = contract::Sum>
struct Sum : Reduction<T, R> {
  template <class Out, class In>
  static void kernel(const Execution& exec, const Out& out, const In& in, const schedule::Rows* schedule) {
    invar::sum<Contract>(exec, values(out), in, schedule);
  }
  template <class Out, class In>
  static void reference(const Out& out, const In& in) {
    reference::sum<Contract>(values(out), in);
  }
  template <class In>
  static auto host_value(const Execution& exec, const In& in) {
    return invar::sum<Contract>(exec, in);
  }
};

/// Four parts of equal length: what a kernel does that splits by count.
template <class T>
struct CountSplitSum : Reduction<T, T> {
  template <class Out, class In>
  static void reference(const Out& out, const In& in) {
    reference::for_each_row(values(out), in, [](std::int64_t n, const auto& x) {
      T total(-0.0);
      for (int part = 0; part < 4; ++part) {
        const std::int64_t begin = n * part / 4, end = n * (part + 1) / 4;
        const auto shifted = [&](std::int64_t i) { return x(begin + i); };
        total = num::add(total, reference::row_sum<contract::Sum, T>(end - begin, shifted));
      }
      return total;
    });
  }
};

}  // namespace

TEST_CASE_TEMPLATE("sum: the row law", T, float, double, bfloat16_t, float16_t, verify::Trace) {
  check_row_law(Sum<T>{});
  SUBCASE("vector") { check_vector(Sum<T>{}); }
}

TEST_CASE("sum: layouts") { check_layouts(Sum<float>{}); }

TEST_CASE("sum: other result types and contracts") {
  check_schedules(Sum<bfloat16_t, bfloat16_t>{});
  check_schedules(Sum<float, float16_t>{});
  check_schedules(Sum<float, double>{});
  check_schedules(Sum<verify::Trace, verify::Trace, contract::Rows<ieee, 128, 16>>{});
}

// Sums of 16-bit elements are too often exact in float for any order to show.
TEST_CASE_TEMPLATE("sum: a wrong order is noticed", T, float, double, verify::Trace) {
  check_detects(Sum<T>{}, Sum<T, T, contract::Rows<ieee, 256, 64>>{});
  check_detects(Sum<T>{}, Sum<T, T, contract::Rows<ieee, 512, 32>>{});
  check_detects(Sum<T>{}, Reversed<Sum<T>>{});
  check_detects(Sum<T>{}, CountSplitSum<T>{});
}

TEST_CASE_TEMPLATE("sum: special values", T, float, double, bfloat16_t, float16_t) {
  using R = num::accumulator_t<T>;
  const Framed<T> in(5, 600);
  const auto& x = in.view();
  const Matrix<R> expected("expected", 5, 1);
  verify::fill_random(x, 1);
  x(0, 599) = garbage<T>();
  expected(0, 0) = num::canonical_nan<R>();
  x(1, 3) = infinity<T>();
  expected(1, 0) = infinity<R>();
  x(2, 3) = infinity<T>();
  x(2, 590) = infinity<T>(true);
  expected(2, 0) = num::canonical_nan<R>();
  fill(rows_of(x, 3, 5), T(-0.0f));
  expected(3, 0) = R(-0.0f);
  x(4, 5) = T(0.0f);
  expected(4, 0) = R(0.0f);
  check_values(Sum<T>{}, x, expected);
  check_values(Sum<T>{}, Framed<T>(1, 0).view(), Matrix<R>("zero", 1, 1));
}

TEST_CASE("sum: refusals") {
  const Execution exec;
  check_reduction_refusals([&](const auto& result, const auto& x) { sum(exec, result, x); },
                           [](const auto& result, const auto& x) { reference::sum(result, x); });
}
