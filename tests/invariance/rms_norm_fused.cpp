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

/// In: x and residual side by side; out: h and y.
template <class T, class R = T, class Contract = contract::Norm>
struct AddRmsNorm : Map<T, R, 2, 2> {
  template <class Out, class In>
  static void kernel(const Execution& exec, const Out& out, const In& in, const schedule::Rows* schedule) {
    const auto weight = shared_vector<T>(in.extent(1) / 2, 11);
    invar::rms_norm<Contract>(exec, part(out, 1, 2), part(out, 0, 2), part(in, 0, 2), part(in, 1, 2), weight, eps,
                              schedule);
  }
  template <class Out, class In>
  static void reference(const Out& out, const In& in) {
    const auto weight = shared_vector<T>(in.extent(1) / 2, 11);
    reference::rms_norm<Contract>(part(out, 1, 2), part(out, 0, 2), part(in, 0, 2), part(in, 1, 2), weight, eps);
  }
};

/// The definition: the addition, rounded to the type of h, then the norm alone.
template <class T>
struct Apart : AddRmsNorm<T> {
  template <class Out, class In>
  static void reference(const Out& out, const In& in) {
    const auto h = part(out, 0, 2);
    for (std::size_t i = 0; i < h.extent(0); ++i)
      for (std::size_t j = 0; j < h.extent(1); ++j)
        h(i, j) = num::narrow<T>(num::add(num::widen(T(part(in, 0, 2)(i, j))), num::widen(T(part(in, 1, 2)(i, j)))));
    reference::rms_norm(part(out, 1, 2), h, shared_vector<T>(h.extent(1), 11), eps);
  }
};

/// h is x, and y is the residual.
template <class T>
struct InPlace : AddRmsNorm<T> {
  template <class Out, class In>
  static void kernel(const Execution& exec, const Out& out, const In& in, const schedule::Rows* schedule) {
    copy(out, in);
    AddRmsNorm<T>::kernel(exec, out, out, schedule);
  }
};

}  // namespace

TEST_CASE_TEMPLATE("fused rms_norm: the row law", T, float, double, bfloat16_t, float16_t, verify::Trace) {
  check_row_law(AddRmsNorm<T>{});
}

TEST_CASE_TEMPLATE("fused rms_norm: the bits of the two steps apart", T, float, bfloat16_t, verify::Trace) {
  const auto in = random_rows<Apart<T>>(4, 1000, 1);
  check_run(AddRmsNorm<T>{}, reference_of(Apart<T>{}, in.view()), executions().back(), in.view(), nullptr);
}

TEST_CASE("fused rms_norm: in place") {
  check_schedules(InPlace<float>{});
  check_schedules(InPlace<bfloat16_t>{});
}

TEST_CASE("fused rms_norm: layouts") { check_layouts(AddRmsNorm<float>{}); }

TEST_CASE("fused rms_norm: other types and contracts") {
  check_schedules(AddRmsNorm<bfloat16_t, float>{});
  check_schedules(AddRmsNorm<verify::Trace, verify::Trace, contract::Rows<ieee, 128, 16>>{});
}

TEST_CASE_TEMPLATE("fused rms_norm: a wrong order is noticed", T, float, double, verify::Trace) {
  check_detects(AddRmsNorm<T>{}, AddRmsNorm<T, T, contract::Rows<ieee, 256, 64>>{});
  check_detects(AddRmsNorm<T>{}, AddRmsNorm<T, T, contract::Rows<ieee, 512, 32>>{});
}

TEST_CASE("fused rms_norm: refusals") {
  const Execution exec;
  const auto weight = shared_vector<float>(10, 1), nine = shared_vector<float>(9, 1);
  const Matrix<float> x("x", 4, 10), residual("residual", 4, 10), y("y", 4, 10), h("h", 4, 10), fewer("fewer", 3, 10);
  // Both outputs must stay untouched.
  const auto refused = [&](const char* words, const auto& call) {
    check_refused(y, words, [&] {
      fill(y, garbage<float>());
      check_refused(h, words, call);
      call();
    });
  };
  refused("y extent 0: expected 4, found 3", [&] { rms_norm(exec, fewer, h, x, residual, weight, eps); });
  refused("h extent 0: expected 4, found 3", [&] { rms_norm(exec, y, fewer, x, residual, weight, eps); });
  refused("residual extent 0: expected 4, found 3", [&] { rms_norm(exec, y, h, x, fewer, weight, eps); });
  refused("weight extent 0: expected 10, found 9", [&] { rms_norm(exec, y, h, x, residual, nine, eps); });
  refused("y: expected memory apart from h", [&] { rms_norm(exec, y, y, x, residual, weight, eps); });
  refused("h: expected memory apart from weight",
          [&] { rms_norm(exec, y, h, x, residual, Kokkos::subview(h, 0, Kokkos::ALL), eps); });
}
