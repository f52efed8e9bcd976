// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a test describes an operation on rows to the walkers of row_law.hpp.
//
// All that belongs to a row stands in one row of a matrix `in`, operand beside operand, and all results of the row in
// one row of a matrix `out`. An operation is a type with
//   Element, Result                       the element types of in and out
//   inputs                                the number of row operands, each of n columns
//   out_columns(n)                        the columns of out
//   table                                 the table of schedules
//   long_row                              a row length at which every schedule shares out work
//   kernel(exec, out, in, schedule)       calls invar::
//   reference(out, in)                    calls invar::reference::
// Operand k is operand(in, k). The vector forms take in of rank 1 and out of rank 0.
#ifndef INVAR_TESTS_SUPPORT_ROW_OPERATION_HPP
#define INVAR_TESTS_SUPPORT_ROW_OPERATION_HPP

#include "environment.hpp"

#include <invar/verify/random.hpp>

#include <invar/num/types.hpp>
#include <invar/tree/row_kernel.hpp>

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

namespace invar::test {

/// An operation that leaves one value a row.
template <class T, class R, int Inputs = 1>
struct Reduction {
  using Element = T;
  using Result = R;
  static constexpr int inputs = Inputs;
  static constexpr const auto& table = schedule::rows_table<Execution>;
  static constexpr std::int64_t long_row = 4500;
  static std::int64_t out_columns(std::int64_t) { return 1; }
};

/// An operation that gives `Outputs` matrices of the operands' extents.
template <class T, class R, int Inputs = 1, int Outputs = 1>
struct Map {
  using Element = T;
  using Result = R;
  static constexpr int inputs = Inputs;
  static constexpr const auto& table = schedule::rows_table<Execution>;
  static constexpr std::int64_t long_row = 4500;
  static std::int64_t out_columns(std::int64_t n) { return Outputs * n; }
};

/// Columns [k·n, (k + 1)·n): one of `count` matrices or vectors that stand side by side.
template <class V>
auto part(const V& v, int k, int count) {
  const auto n = static_cast<std::int64_t>(v.extent(static_cast<int>(V::rank) - 1)) / count;
  if constexpr (static_cast<int>(V::rank) == 1)
    return Kokkos::subview(v, std::pair(k * n, (k + 1) * n));
  else
    return Kokkos::subview(v, Kokkos::ALL, std::pair(k * n, (k + 1) * n));
}

/// Where a reduction leaves its values: column 0 of out, or the one value of a vector.
template <class V>
auto values(const V& out) {
  if constexpr (static_cast<int>(V::rank) == 0)
    return out;
  else
    return Kokkos::subview(out, Kokkos::ALL, 0);
}

/// A matrix that all rows share, such as weights: the same data for the same arguments, made once and kept as long as
/// Kokkos lives.
template <class T>
auto shared_matrix(std::int64_t rows, std::int64_t columns, std::uint64_t seed) {
  using View = Kokkos::View<T**, Kokkos::LayoutRight, Memory>;
  using Made = std::map<std::tuple<std::int64_t, std::int64_t, std::uint64_t>, View>;
  static Made* const made = [] {
    auto* const empty = new Made;
    Kokkos::push_finalize_hook([empty] { delete empty; });
    return empty;
  }();
  View& matrix = (*made)[{rows, columns, seed}];
  if (!matrix.is_allocated()) {
    matrix = View("shared", rows, columns);
    verify::fill_random(matrix, seed);
  }
  using Unmanaged = Kokkos::View<const T**, Kokkos::LayoutRight, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  return Unmanaged(matrix.data(), rows, columns);
}

/// A vector that all rows share.
template <class T>
auto shared_vector(std::int64_t n, std::uint64_t seed) {
  return Kokkos::subview(shared_matrix<T>(1, n, seed), 0, Kokkos::ALL);
}

}  // namespace invar::test

#endif
