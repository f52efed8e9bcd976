// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/copy.hpp"
#include "support/refusal.hpp"
#include "support/row_law.hpp"

#include <invar/op/silu_mul.hpp>
#include <invar/reference/silu_mul.hpp>
#include <invar/verify/trace.hpp>

using namespace invar;
using namespace invar::test;

namespace {

template <class T, class R = T>
struct SiluMul : Map<T, R, 2> {
  static constexpr const auto& table = schedule::elementwise_table<Execution>;
  template <class Out, class In>
  static void kernel(const Execution& exec, const Out& out, const In& in, const schedule::Elementwise* schedule) {
    invar::silu_mul(exec, out, part(in, 0, 2), part(in, 1, 2), schedule);
  }
  template <class Out, class In>
  static void reference(const Out& out, const In& in) {
    reference::silu_mul(out, part(in, 0, 2), part(in, 1, 2));
  }
};

/// The output is one of the inputs.
template <class T, int Which>
struct InPlace : SiluMul<T> {
  template <class Out, class In>
  static void kernel(const Execution& exec, const Out& out, const In& in, const schedule::Elementwise* schedule) {
    copy(out, part(in, Which, 2));
    if constexpr (Which == 0)
      invar::silu_mul(exec, out, out, part(in, 1, 2), schedule);
    else
      invar::silu_mul(exec, out, part(in, 0, 2), out, schedule);
  }
};

/// The same product with its factors grouped otherwise: g·(sigmoid(g)·up).
template <class T>
struct OtherGrouping : SiluMul<T> {
  template <class Out, class In>
  static void reference(const Out& out, const In& in) {
    const auto gate = part(in, 0, 2), up = part(in, 1, 2);
    for (std::size_t i = 0; i < out.extent(0); ++i)
      for (std::size_t j = 0; j < out.extent(1); ++j) {
        const auto g = num::widen(T(gate(i, j))), u = num::widen(T(up(i, j)));
        out(i, j) = num::narrow<T>(num::mul(g, num::mul(num::sigmoid(g), u)));
      }
  }
};

}  // namespace

TEST_CASE_TEMPLATE("silu_mul: the row law", T, float, bfloat16_t, float16_t, verify::Trace) {
  check_row_law(SiluMul<T>{});
}

TEST_CASE("silu_mul: in place") {
  check_schedules(InPlace<float, 0>{});
  check_schedules(InPlace<bfloat16_t, 1>{});
}

TEST_CASE("silu_mul: layouts") { check_layouts(SiluMul<float>{}); }

TEST_CASE("silu_mul: other result types") {
  check_schedules(SiluMul<bfloat16_t, float>{});
  check_schedules(SiluMul<float, float16_t>{});
}

TEST_CASE_TEMPLATE("silu_mul: another order is noticed", T, float, verify::Trace) {
  check_detects(SiluMul<T>{}, OtherGrouping<T>{});
}

TEST_CASE_TEMPLATE("silu_mul: special values", T, float, bfloat16_t, float16_t) {
  const Framed<T> in(1, 12);
  const Matrix<T> expected("expected", 1, 6);
  const auto gate = part(in.view(), 0, 2), up = part(in.view(), 1, 2);
  const T nan = num::narrow<T>(num::canonical_nan<float>());
  const T gates[6] = {garbage<T>(), T(1.0f), infinity<T>(true), infinity<T>(), T(-0.0f), T(0.0f)};
  const T ups[6] = {T(1.0f), garbage<T>(), T(1.0f), T(-2.0f), T(3.0f), T(-3.0f)};
  const T results[6] = {nan, nan, nan, infinity<T>(true), T(-0.0f), T(-0.0f)};
  for (int j = 0; j < 6; ++j) {
    gate(0, j) = gates[j];
    up(0, j) = ups[j];
    expected(0, j) = results[j];
  }
  check_values(SiluMul<T>{}, in.view(), expected);
}

TEST_CASE("silu_mul: refusals") {
  const Execution exec;
  const Matrix<float> up("up", 4, 10), y("y", 4, 10), gate("gate", 4, 10), fewer("fewer", 3, 10);
  check_map_refusals([&](const auto& out, const auto& x) { silu_mul(exec, out, x, up); },
                     [&](const auto& out, const auto& x) { reference::silu_mul(out, x, up); }, "gate");
  check_map_refusals([&](const auto& out, const auto& x) { silu_mul(exec, out, up, x); },
                     [&](const auto& out, const auto& x) { reference::silu_mul(out, up, x); }, "up");
  check_refused(y, "up extent 0: expected 4, found 3", [&] { silu_mul(exec, y, gate, fewer); });
}
