// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations made wrong on purpose, for negative controls.
#ifndef INVAR_TESTS_SUPPORT_WRONG_ORDERS_HPP
#define INVAR_TESTS_SUPPORT_WRONG_ORDERS_HPP

#include "row_operation.hpp"

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <utility>

namespace invar::test {

/// The reduction Op over each row read backwards.
template <class Op>
struct Reversed : Op {
  template <class Out, class In>
  static void reference(const Out& out, const In& in) {
    const auto rows = static_cast<std::int64_t>(in.extent(0)), columns = static_cast<std::int64_t>(in.extent(1));
    Kokkos::View<typename Op::Element**, Memory> backwards("backwards", rows, columns);
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) backwards(i, j) = in(i, columns - 1 - j);
    Op::reference(out, backwards);
  }
};

/// The reduction Op of one operand without each row's last element.
template <class Op>
struct WithoutLast : Op {
  template <class Out, class In>
  static void reference(const Out& out, const In& in) {
    Op::reference(out, Kokkos::subview(in, Kokkos::ALL, std::pair(std::size_t{0}, in.extent(1) - 1)));
  }
};

}  // namespace invar::test

#endif
