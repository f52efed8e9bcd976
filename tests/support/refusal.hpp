// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks that a refused call throws invar::error and writes nothing.
#ifndef INVAR_TESTS_SUPPORT_REFUSAL_HPP
#define INVAR_TESTS_SUPPORT_REFUSAL_HPP

#include <invar/verify/random.hpp>
#include "check_bits.hpp"
#include "framed.hpp"

#include <invar/error.hpp>

#include <string>
#include <utility>

namespace invar::test {

/// call() must throw invar::error whose message holds `words`, and leave every element of `out` as it was.
template <class Out, class Call>
void check_refused(const Out& out, const std::string& words, const Call& call) {
  fill(out, garbage<typename Out::non_const_value_type>());
  std::string message;
  try {
    call();
  } catch (const error& e) {
    message = e.what();
  }
  CHECK_MESSAGE(!message.empty(), "the call was not refused; expected: " << words);
  CHECK_MESSAGE(message.find(words) != std::string::npos, message);
  Kokkos::fence("a refused call must not have launched anything");
  using T = typename Out::non_const_value_type;
  bool untouched = true;
  verify::for_each_element(
      out, [&](const T& x) { untouched = untouched && verify::element_bits(x) == verify::element_bits(garbage<T>()); });
  CHECK_MESSAGE(untouched, "a refused call wrote to its output");
}

/// The refusals that all reductions of one operand share; call(result, x) runs one on float matrices.
template <class Call, class Reference>
void check_reduction_refusals(const Call& call, const Reference& reference) {
  using Kokkos::ALL;
  Kokkos::View<float**, Kokkos::LayoutRight, Memory> buffer("buffer", 4, 10);
  Kokkos::View<float*, Memory> three("three", 3), expected("expected", 4);
  check_refused(three, "result extent 0: expected 4, found 3", [&] { call(three, buffer); });
  const auto inside = Kokkos::subview(buffer, ALL, 2);
  check_refused(buffer, "result: expected memory apart from x", [&] { call(inside, buffer); });
  const auto along = Kokkos::subview(buffer, 1, std::pair(0, 4));
  check_refused(buffer, "result: expected memory apart from x", [&] { call(along, buffer); });

  // A column beside the reduced ones is memory apart.
  verify::fill_random(buffer, 1);
  const auto left = Kokkos::subview(buffer, ALL, 0);
  const auto right = Kokkos::subview(buffer, ALL, std::pair(1, 10));
  reference(expected, right);
  call(left, right);
  CHECK_BITS(expected, left);
}

/// The refusals that all maps from x to y share; call(y, x) runs one on float matrices of 10 columns at most.
/// \param x_name  what the operation calls x
template <class Call, class Reference>
void check_map_refusals(const Call& call, const Reference& reference, const std::string& x_name = "x") {
  using Kokkos::ALL;
  using Matrix = Kokkos::View<float**, Kokkos::LayoutRight, Memory>;
  Matrix x("x", 4, 10), fewer_rows("y", 3, 10), more_columns("y", 4, 11), buffer("buffer", 5, 20), expected("y", 4, 10);
  check_refused(fewer_rows, "y extent 0: expected 4, found 3", [&] { call(fewer_rows, x); });
  check_refused(more_columns, "y extent 1: expected 10, found 11", [&] { call(more_columns, x); });
  const auto window = [&](int row, int column) {
    return Kokkos::subview(buffer, std::pair(row, row + 4), std::pair(column, column + 10));
  };
  check_refused(buffer, "y: expected memory apart from " + x_name, [&] { call(window(0, 0), window(1, 0)); });
  check_refused(buffer, "y: expected memory apart from " + x_name, [&] { call(window(0, 1), window(0, 0)); });

  // Column slices of one buffer are memory apart.
  verify::fill_random(buffer, 1);
  reference(expected, window(0, 10));
  call(window(0, 0), window(0, 10));
  CHECK_BITS(expected, window(0, 0));
}

}  // namespace invar::test

#endif
