// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/copy.hpp"
#include "support/refusal.hpp"
#include "support/row_law.hpp"

#include <invar/op/layer_norm.hpp>
#include <invar/reference/layer_norm.hpp>
#include <invar/verify/trace.hpp>

using namespace invar;
using namespace invar::test;

namespace {

constexpr float eps = 1e-5f;

template <class T, class R = T, class W = T, class Contract = contract::Norm>
struct LayerNorm : Map<T, R> {
  template <class Out, class In>
  static void kernel(const Execution& exec, const Out& out, const In& in, const schedule::Rows* schedule) {
    const auto n = in.extent(1);
    invar::layer_norm<Contract>(exec, out, in, shared_vector<W>(n, 11), shared_vector<W>(n, 12), eps, schedule);
  }
  template <class Out, class In>
  static void reference(const Out& out, const In& in) {
    const auto n = in.extent(1);
    reference::layer_norm<Contract>(out, in, shared_vector<W>(n, 11), shared_vector<W>(n, 12), eps);
  }
};

/// The output is the input.
template <class T>
struct InPlace : LayerNorm<T> {
  template <class Out, class In>
  static void kernel(const Execution& exec, const Out& out, const In& in, const schedule::Rows* schedule) {
    copy(out, in);
    LayerNorm<T>::kernel(exec, out, out, schedule);
  }
};

}  // namespace

TEST_CASE_TEMPLATE("layer_norm: the row law", T, float, double, bfloat16_t, float16_t, verify::Trace) {
  check_row_law(LayerNorm<T>{});
}

TEST_CASE("layer_norm: in place") {
  check_schedules(InPlace<float>{});
  check_schedules(InPlace<bfloat16_t>{});
}

TEST_CASE("layer_norm: layouts") { check_layouts(LayerNorm<float>{}); }

TEST_CASE("layer_norm: other types and contracts") {
  check_schedules(LayerNorm<bfloat16_t, float, float>{});
  check_schedules(LayerNorm<float, float16_t, bfloat16_t>{});
  check_schedules(LayerNorm<verify::Trace, verify::Trace, verify::Trace, contract::Rows<ieee, 128, 16>>{});
}

TEST_CASE_TEMPLATE("layer_norm: a wrong order is noticed", T, float, double, verify::Trace) {
  check_detects(LayerNorm<T>{}, LayerNorm<T, T, T, contract::Rows<ieee, 256, 64>>{});
  check_detects(LayerNorm<T>{}, LayerNorm<T, T, T, contract::Rows<ieee, 512, 32>>{});
}

TEST_CASE_TEMPLATE("layer_norm: special values", T, float, double, bfloat16_t, float16_t) {
  const Framed<T> in(3, 1300);
  const auto& x = in.view();
  const Matrix<T> expected("expected", 3, 1300);
  verify::fill_random(x, 1);
  x(0, 1299) = garbage<T>();
  x(1, 3) = infinity<T>();
  fill(rows_of(expected, 0, 2), num::narrow<T>(num::canonical_nan<float>()));
  // A constant row leaves the bias: its mean is exact.
  fill(rows_of(x, 2, 3), T(0.5f));
  const auto bias = shared_vector<T>(1300, 12);
  for (int j = 0; j < 1300; ++j) expected(2, j) = bias(j);
  check_values(LayerNorm<T>{}, x, expected);
}

TEST_CASE("layer_norm: refusals") {
  const Execution exec;
  const auto ten = shared_vector<float>(10, 1), nine = shared_vector<float>(9, 1);
  check_map_refusals([&](const auto& y, const auto& x) { layer_norm(exec, y, x, ten, ten, eps); },
                     [&](const auto& y, const auto& x) { reference::layer_norm(y, x, ten, ten, eps); });
  const Matrix<float> x("x", 4, 10), y("y", 4, 10);
  check_refused(y, "weight extent 0: expected 10, found 9", [&] { layer_norm(exec, y, x, nine, ten, eps); });
  check_refused(y, "bias extent 0: expected 10, found 9", [&] { layer_norm(exec, y, x, ten, nine, eps); });
  const auto row = Kokkos::subview(y, 2, Kokkos::ALL);
  check_refused(y, "y: expected memory apart from weight", [&] { layer_norm(exec, y, x, row, ten, eps); });
  check_refused(y, "y: expected memory apart from bias", [&] { layer_norm(exec, y, x, ten, row, eps); });
}
