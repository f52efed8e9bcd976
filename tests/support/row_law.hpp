// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The row law and the oracle law, checked for one operation along every axis. See row_operation.hpp for what an
// operation is here.
#ifndef INVAR_TESTS_SUPPORT_ROW_LAW_HPP
#define INVAR_TESTS_SUPPORT_ROW_LAW_HPP

#include <invar/verify/random.hpp>
#include "axes.hpp"
#include "check_bits.hpp"
#include "copy.hpp"
#include "framed.hpp"
#include "row_operation.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace invar::test {

template <class T>
using Matrix = Kokkos::View<T**, Kokkos::LayoutRight, Memory>;

/// Every schedule of an operation, and null: the shape chooses.
template <class Op>
auto schedules() {
  std::vector<decltype(Op::table.data())> list{nullptr};
  for (const auto& schedule : Op::table) list.push_back(&schedule);
  return list;
}

/// The same where another axis is walked too; tiny tests leave the choice to the shape.
template <class Op>
auto schedules_along() {
  auto list = schedules<Op>();
  if (is_tiny()) list.resize(1);
  return list;
}

template <class Schedule>
std::string describe(const Execution& exec, const Schedule* schedule) {
  return describe(exec) + ", schedule: " + (schedule ? schedule->name : "chosen by shape");
}

/// What the specification says.
template <class Op, class In>
Matrix<typename Op::Result> reference_of(const Op& op, const In& in) {
  const auto n = static_cast<std::int64_t>(in.extent(1)) / Op::inputs;
  Matrix<typename Op::Result> out("expected", in.extent(0), op.out_columns(n));
  op.reference(out, in);
  return out;
}

/// Random data of `rows` rows, n columns an operand.
template <class Op>
Framed<typename Op::Element> random_rows(std::int64_t rows, std::int64_t n, std::uint64_t seed, std::int64_t left = 0,
                                         std::int64_t right = 0) {
  Framed<typename Op::Element> in(rows, Op::inputs * n, left, right);
  verify::fill_random(in.view(), seed);
  return in;
}

/// Rows [begin, end) of a view, as the same type.
template <class V>
V rows_of(const V& v, std::int64_t begin, std::int64_t end) {
  return Kokkos::subview(v, std::pair(begin, end), Kokkos::ALL);
}

/// Runs the kernel, and checks its result and that it wrote nothing else.
template <class Op, class Expected, class In>
void check_run(const Op& op, const Expected& expected, const Execution& exec, const In& in,
               decltype(Op::table.data()) schedule, std::int64_t left = 1, std::int64_t right = 2) {
  Framed<typename Op::Result> out(expected.extent(0), expected.extent(1), left, right);
  op.kernel(exec, out.view(), typename In::const_type(in), schedule);
  INFO(describe(exec, schedule), ", ", in.extent(0), " rows, ", in.extent(1), " columns");
  CHECK_BITS(expected, out.view());
  CHECK(out.is_intact());
}

/// Every schedule and instance, for row lengths around all boundaries.
template <class Op>
void check_schedules(const Op& op) {
  for (const std::int64_t n : row_lengths()) {
    const auto in = random_rows<Op>(4, n, 1000 + n, 3, 2);
    const auto expected = reference_of(op, in.view());
    for (const Execution& exec : executions_of_schedules())
      for (const auto* schedule : schedules<Op>()) check_run(op, expected, exec, in.view(), schedule);
  }
}

/// A row has the same bits in a batch of any size, at any position, alone, and beside rows of garbage.
template <class Op>
void check_batches(const Op& op) {
  const std::int64_t most = batch_sizes().back();
  for (const std::int64_t n : {std::int64_t{129}, std::int64_t{Op::long_row}}) {
    const auto all = random_rows<Op>(most, n, 2000 + n, 0, 1);
    const auto expected = reference_of(op, all.view());
    for (const std::int64_t rows : batch_sizes())
      check_run(op, rows_of(expected, 0, rows), executions()[rows % executions().size()], rows_of(all.view(), 0, rows),
                nullptr);
    for (const std::int64_t r : positions()) {
      const auto& exec = executions()[r % executions().size()];
      Framed<typename Op::Element> alone(1, Op::inputs * n, 5, 0);
      copy(alone.view(), rows_of(all.view(), r, r + 1));
      INFO("row ", r);
      check_run(op, rows_of(expected, r, r + 1), exec, alone.view(), nullptr);
      check_run(op, rows_of(expected, r, most), exec, rows_of(all.view(), r, most), nullptr);
    }
  }
}

template <class Op>
void check_neighbours(const Op& op) {
  using T = typename Op::Element;
  const std::int64_t rows = 9, n = 1300;
  const auto in = random_rows<Op>(rows, n, 3000);
  const auto expected = reference_of(op, in.view());
  for (const T hostile : {garbage<T>(), infinity<T>(), infinity<T>(true)})
    for (const std::int64_t r : is_tiny() ? std::vector<std::int64_t>{4} : std::vector<std::int64_t>{0, 4, 8}) {
      Framed<T> batch(rows, Op::inputs * n);
      fill(batch.view(), hostile);
      copy(rows_of(batch.view(), r, r + 1), rows_of(in.view(), r, r + 1));
      for (const auto* schedule : schedules_along<Op>()) {
        Framed<typename Op::Result> out(rows, expected.extent(1));
        op.kernel(executions().back(), out.view(), typename Framed<T>::View::const_type(batch.view()), schedule);
        INFO("row ", r);
        CHECK_BITS(rows_of(expected, r, r + 1), rows_of(out.view(), r, r + 1));
      }
    }
}

/// Padding, and the offset of a row's first element from an aligned address.
template <class Op>
void check_alignment(const Op& op) {
  const std::int64_t n = 1100;
  const auto data = random_rows<Op>(3, n, 4000);
  const auto expected = reference_of(op, data.view());
  for (const std::int64_t left : alignment_offsets())
    for (const std::int64_t right : {0, 1, 4}) {
      Framed<typename Op::Element> in(3, Op::inputs * n, left, right);
      copy(in.view(), data.view());
      INFO("offset ", left, ", padding ", right);
      check_run(op, expected, executions().back(), in.view(), nullptr, right, left);
    }
}

/// Every run gives the same bits again.
template <class Op>
void check_repeats(const Op& op) {
  const auto in = random_rows<Op>(2, 4 * Op::long_row, 5000);
  const auto expected = reference_of(op, in.view());
  for (int i = 0; i < (is_small() ? 1 : 5); ++i)
    for (const auto* schedule : schedules<Op>()) check_run(op, expected, executions().back(), in.view(), schedule);
}

/// No rows: nothing happens. No columns: what the specification says.
template <class Op>
void check_empty(const Op& op) {
  for (const auto* schedule : schedules_along<Op>()) {
    const auto no_rows = random_rows<Op>(0, 7, 1);
    check_run(op, reference_of(op, no_rows.view()), executions().back(), no_rows.view(), schedule);
    const auto no_columns = random_rows<Op>(3, 0, 1);
    check_run(op, reference_of(op, no_columns.view()), executions().back(), no_columns.view(), schedule);
  }
}

/// The row law and the oracle law, for the default view type.
template <class Op>
void check_row_law(const Op& op) {
  SUBCASE("schedules") { check_schedules(op); }
  SUBCASE("batches") { check_batches(op); }
  SUBCASE("neighbours") { check_neighbours(op); }
  SUBCASE("alignment") { check_alignment(op); }
  SUBCASE("repeats") { check_repeats(op); }
  SUBCASE("empty") { check_empty(op); }
}

template <class Op, class In, class Out>
void check_layout(const char* name, const Op& op, const In& in, const Out& out, std::uint64_t seed) {
  verify::fill_random(in, seed);
  const auto expected = reference_of(op, in);
  for (const auto* schedule : schedules<Op>()) {
    fill(out, garbage<typename Op::Result>());
    op.kernel(executions().back(), out, typename In::const_type(in), schedule);
    INFO(name, ", ", describe(executions().back(), schedule));
    CHECK_BITS(expected, out);
  }
}

/// Every layout, managed and unmanaged memory.
template <class Op>
void check_layouts(const Op& op) {
  using T = typename Op::Element;
  using R = typename Op::Result;
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  const std::int64_t rows = 5, n = Op::inputs * 1033, m = op.out_columns(1033);
  check_layout("LayoutRight", op, Kokkos::View<T**, Kokkos::LayoutRight, Memory>("in", rows, n),
               Kokkos::View<R**, Kokkos::LayoutRight, Memory>("out", rows, m), 6001);
  check_layout("LayoutLeft", op, Kokkos::View<T**, Kokkos::LayoutLeft, Memory>("in", rows, n),
               Kokkos::View<R**, Kokkos::LayoutLeft, Memory>("out", rows, m), 6002);
  // Gaps between neighbours in a row and in a column.
  check_layout("LayoutStride", op,
               Kokkos::View<T**, Kokkos::LayoutStride, Memory>("in", Kokkos::LayoutStride(rows, 3 * n + 1, n, 3)),
               Kokkos::View<R**, Kokkos::LayoutStride, Memory>("out", Kokkos::LayoutStride(rows, 2, m, 2 * rows + 3)),
               6003);
  const Kokkos::View<T*, Memory> in("in", rows * n + 1);
  const Kokkos::View<R*, Memory> out("out", rows * m + 1);
  check_layout("unmanaged, LayoutRight to LayoutLeft", op,
               Kokkos::View<T**, Kokkos::LayoutRight, Memory, Unmanaged>(in.data() + 1, rows, n),
               Kokkos::View<R**, Kokkos::LayoutLeft, Memory, Unmanaged>(out.data() + 1, rows, m), 6004);
}

/// The vector form of a reduction, also over a long vector, and the form that returns a host value.
template <class Op>
void check_vector(const Op& op) {
  using T = typename Op::Element;
  auto lengths =
      by_size<std::int64_t>({0, 1, 2, 63, 513, 4097, 100000, (1 << 20) + 7}, {0, 1, 2, 63, 513, 4097, 70000});
  for (const std::int64_t n : lengths) {
    Kokkos::View<T*, Memory> x("x", Op::inputs * n);
    verify::fill_random(x, 7000 + n);
    const Kokkos::View<typename Op::Result[2], Memory> results("results");
    // The type that the host-value form uses inside on hosts.
    using Value = Kokkos::View<typename Op::Result, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
    const Value expected(&results(0)), result(&results(1));
    op.reference(expected, x);
    for (const Execution& exec : executions_of_schedules()) {
      for (const auto* schedule : schedules<Op>()) {
        result() = garbage<typename Op::Result>();
        op.kernel(exec, result, x, schedule);
        INFO(describe(exec, schedule), ", vector of ", n);
        CHECK_BITS(expected, result);
      }
      result() = op.host_value(exec, x);
      CHECK_BITS(expected, result);
    }
  }
}

/// Values that are known without the specification: it and every schedule must give them.
template <class Op, class In, class Expected>
void check_values(const Op& op, const In& in, const Expected& expected) {
  CHECK_BITS(expected, reference_of(op, in));
  for (const auto* schedule : schedules<Op>()) check_run(op, expected, executions().back(), in, schedule);
}

/// A NaN is seen in whichever place of a row it stands.
template <class Op>
void check_nan_in_any_place(const Op& op) {
  constexpr std::int64_t columns = 130;
  const Framed<typename Op::Element> in(columns, columns);
  const Matrix<typename Op::Result> expected("expected", columns, 1);
  verify::fill_random(in.view(), 1);
  for (std::int64_t i = 0; i < columns; ++i) in.view()(i, i) = garbage<typename Op::Element>();
  fill(expected, num::canonical_nan<typename Op::Result>());
  check_values(op, in.view(), expected);
}

/// Negative control: the comparison sees that `Wrong` is another operation than `Op`.
template <class Op, class Wrong>
void check_detects(const Op& op, const Wrong& wrong, std::int64_t n = 5000) {
  const auto in = random_rows<Op>(256, n, 8000);
  const Framed<typename Op::Result> out(256, op.out_columns(n));
  op.kernel(executions().back(), out.view(), typename Framed<typename Op::Element>::View::const_type(in.view()),
            nullptr);
  CHECK_BITS_DIFFER(out.view(), reference_of(wrong, in.view()));
}

}  // namespace invar::test

#endif
