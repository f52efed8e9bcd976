// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/copy.hpp"
#include "support/refusal.hpp"
#include "support/row_law.hpp"

#include <invar/op/rms_norm.hpp>
#include <invar/reference/rms_norm.hpp>
#include <invar/verify/trace.hpp>

using namespace invar;
using namespace invar::test;

namespace {

constexpr float eps = 1e-5f;

template <class T, class R = T, class W = T, class Contract = contract::Norm>
struct RmsNorm : Map<T, R> {
  template <class Out, class In>
  static void kernel(const Execution& exec, const Out& out, const In& in, const schedule::Rows* schedule) {
    invar::rms_norm<Contract>(exec, out, in, shared_vector<W>(in.extent(1), 11), eps, schedule);
  }
  template <class Out, class In>
  static void reference(const Out& out, const In& in) {
    reference::rms_norm<Contract>(out, in, shared_vector<W>(in.extent(1), 11), eps);
  }
};

/// The output is the input.
template <class T>
struct InPlace : RmsNorm<T> {
  template <class Out, class In>
  static void kernel(const Execution& exec, const Out& out, const In& in, const schedule::Rows* schedule) {
    copy(out, in);
    RmsNorm<T>::kernel(exec, out, out, schedule);
  }
};

}  // namespace

TEST_CASE_TEMPLATE("rms_norm: the row law", T, float, double, bfloat16_t, float16_t, verify::Trace) {
  check_row_law(RmsNorm<T>{});
}

TEST_CASE("rms_norm: in place") {
  check_schedules(InPlace<float>{});
  check_schedules(InPlace<bfloat16_t>{});
}

TEST_CASE("rms_norm: layouts") { check_layouts(RmsNorm<float>{}); }

TEST_CASE("rms_norm: other types and contracts") {
  check_schedules(RmsNorm<bfloat16_t, float, float>{});
  check_schedules(RmsNorm<float, float16_t, bfloat16_t>{});
  check_schedules(RmsNorm<verify::Trace, verify::Trace, verify::Trace, contract::Rows<ieee, 128, 16>>{});
}

TEST_CASE_TEMPLATE("rms_norm: a wrong order is noticed", T, float, double, verify::Trace) {
  check_detects(RmsNorm<T>{}, RmsNorm<T, T, T, contract::Rows<ieee, 256, 64>>{});
  check_detects(RmsNorm<T>{}, RmsNorm<T, T, T, contract::Rows<ieee, 512, 32>>{});
}

TEST_CASE_TEMPLATE("rms_norm: special values", T, float, double, bfloat16_t, float16_t) {
  const Framed<T> in(3, 1300);
  const auto& x = in.view();
  const Matrix<T> expected("expected", 3, 1300);
  verify::fill_random(x, 1);
  x(0, 1299) = garbage<T>();
  fill(rows_of(expected, 0, 1), num::narrow<T>(num::canonical_nan<float>()));
  // One infinity: its own result is ∞·0, the others are zeros of their product's sign.
  const auto weight = shared_vector<T>(1300, 11);
  for (int j = 0; j < 1300; ++j)
    expected(1, j) =
        num::is_negative(num::widen(x(1, j))) != num::is_negative(num::widen(weight(j))) ? T(-0.0f) : T(0.0f);
  x(1, 3) = infinity<T>();
  expected(1, 3) = num::narrow<T>(num::canonical_nan<float>());
  fill(rows_of(x, 2, 3), T(0.0f));
  for (int j = 0; j < 1300; ++j) expected(2, j) = num::is_negative(num::widen(weight(j))) ? T(-0.0f) : T(0.0f);
  check_values(RmsNorm<T>{}, x, expected);
}

TEST_CASE("rms_norm: refusals") {
  const Execution exec;
  const auto ten = shared_vector<float>(10, 1), nine = shared_vector<float>(9, 1);
  check_map_refusals([&](const auto& y, const auto& x) { rms_norm(exec, y, x, ten, eps); },
                     [&](const auto& y, const auto& x) { reference::rms_norm(y, x, ten, eps); });
  const Matrix<float> x("x", 4, 10), y("y", 4, 10);
  check_refused(y, "weight extent 0: expected 10, found 9", [&] { rms_norm(exec, y, x, nine, eps); });
  const auto row = Kokkos::subview(y, 2, Kokkos::ALL);
  check_refused(y, "y: expected memory apart from weight", [&] { rms_norm(exec, y, x, row, eps); });
}
