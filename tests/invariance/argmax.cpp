// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/refusal.hpp"
#include "support/row_law.hpp"
#include "support/wrong_orders.hpp"

#include <invar/op/argmax.hpp>
#include <invar/reference/argmax.hpp>
#include <invar/verify/trace.hpp>

using namespace invar;
using namespace invar::test;

namespace {

template <class T, class R = std::int64_t, class Contract = contract::Extremum>
struct Argmax : Reduction<T, R> {
  template <class Out, class In>
  static void kernel(const Execution& exec, const Out& out, const In& in, const schedule::Rows* schedule) {
    invar::argmax<Contract>(exec, values(out), in, schedule);
  }
  template <class Out, class In>
  static void reference(const Out& out, const In& in) {
    reference::argmax<Contract>(values(out), in);
  }
  template <class In>
  static auto host_value(const Execution& exec, const In& in) {
    return invar::argmax<Contract>(exec, in);
  }
};

}  // namespace

TEST_CASE_TEMPLATE("argmax: the row law", T, float, double, bfloat16_t, float16_t, verify::Trace) {
  check_row_law(Argmax<T>{});
  SUBCASE("vector") { check_vector(Argmax<T>{}); }
}

TEST_CASE("argmax: layouts") { check_layouts(Argmax<float>{}); }

TEST_CASE("argmax: a 32-bit index") { check_schedules(Argmax<float, std::int32_t>{}); }

// No order can change the bits, so the controls are a lost element and another rule for ties.
TEST_CASE_TEMPLATE("argmax: a wrong kernel is noticed", T, float, double, bfloat16_t, float16_t, verify::Trace) {
  check_detects(Argmax<T>{}, WithoutLast<Argmax<T>>{}, 3);
}

TEST_CASE_TEMPLATE("argmax: ties and special values", T, float, double, bfloat16_t, float16_t) {
  const Framed<T> in(7, 1300);
  const auto& x = in.view();
  const Matrix<std::int64_t> expected("expected", 7, 1), last("last", 7, 1);
  verify::fill_random(x, 1);
  x(0, 700) = x(0, 701) = x(0, 1299) = T(2.0f);
  expected(0, 0) = 700;
  x(1, 600) = x(1, 1200) = garbage<T>();
  x(1, 3) = infinity<T>();
  expected(1, 0) = 600;
  fill(rows_of(x, 2, 3), infinity<T>(true));
  expected(2, 0) = 0;
  fill(rows_of(x, 3, 4), T(-0.0f));
  x(3, 513) = T(0.0f);
  expected(3, 0) = 0;
  fill(rows_of(x, 4, 5), garbage<T>());
  expected(4, 0) = 0;
  x(5, 1299) = infinity<T>();
  expected(5, 0) = 1299;
  x(6, 64) = x(6, 65) = infinity<T>();
  expected(6, 0) = 64;
  check_values(Argmax<T>{}, x, expected);

  reference::for_each_row(values(last), x, [](std::int64_t n, const auto& element) {
    std::int64_t best = 0;
    for (std::int64_t i = 1; i < n; ++i)
      if (!num::is_greater(element(best), element(i))) best = i;
    return best;
  });
  CHECK_BITS_DIFFER(expected, last);

  const Matrix<std::int64_t> none("none", 1, 1);
  none(0, 0) = -1;
  check_values(Argmax<T>{}, Framed<T>(1, 0).view(), none);
}

TEST_CASE("argmax: refusals") {
  const Execution exec;
  Matrix<double> buffer("buffer", 4, 10);
  Kokkos::View<std::int64_t*, Memory> three("three", 3);
  check_refused(three, "result extent 0: expected 4, found 3", [&] { argmax(exec, three, buffer); });
  const Kokkos::View<std::int64_t*, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>> inside(
      reinterpret_cast<std::int64_t*>(buffer.data()), 4);
  check_refused(buffer, "result: expected memory apart from x", [&] { argmax(exec, inside, buffer); });
}
