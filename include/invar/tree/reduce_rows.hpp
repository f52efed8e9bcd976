// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Operations that leave one value a row: result(row) = finish(reduction over the row).
#ifndef INVAR_TREE_REDUCE_ROWS_HPP
#define INVAR_TREE_REDUCE_ROWS_HPP

#include <invar/tree/elements.hpp>
#include <invar/tree/row_kernel.hpp>
#include <invar/view.hpp>

#include <cstdint>
#include <string>

namespace invar::tree {

/// The kernel's body: a functor, because device compilers refuse generic lambdas.
template <class Result, class Reduction, class Finish>
struct ReduceRows {
  static constexpr int element_bytes = Reduction::element_bytes;
  static constexpr std::size_t value_bytes = sizeof(typename Reduction::value_type);
  Result result;
  Reduction reduction;
  Finish finish;

  template <class Line>
  KOKKOS_FUNCTION void operator()(std::int64_t row, const Line& line) const {
    const auto value = line.reduce(row, reduction);
    if (line.is_first()) write(row, value);
  }
  KOKKOS_FUNCTION void write(std::int64_t row, const typename Reduction::value_type& value) const {
    using T = typename Result::value_type;
    if constexpr (static_cast<int>(Result::rank) == 1)
      result(row) = num::narrow<T>(finish(value));
    else
      result() = num::narrow<T>(finish(value));
  }
};

/// The reduction's value as it is.
struct AsItIs {
  template <class T>
  KOKKOS_FUNCTION T operator()(T value) const {
    return value;
  }
};

/// Checks the result against the input, chooses a schedule unless one is given, and launches.
///
/// \param operation  name for errors; `label` is its Kokkos label
/// \param x          the input: Elements of a view
/// \param finish     finish(value): the value to round and store
template <RowReduction Reduction, class Exec, class Result, class X, class Finish = AsItIs>
void reduce_rows(const char* operation, const char* label, const Exec& exec, const Result& result, const Elements<X>& x,
                 const Reduction& reduction, const schedule::Rows* chosen, const Finish& finish = {}) {
  invar::detail::check_output<Exec>(operation, "result", result);
  invar::detail::check_input<Exec, X>();
  if constexpr (static_cast<int>(Result::rank) == 1)
    invar::detail::require_extent(operation, "result", result, 0, x.rows());
  invar::detail::require_disjoint(operation, "result", result, "x", x.x);
  if (x.rows() == 0) return;
  const RowShape shape{x.rows(), x.columns(), Reduction::contract::leaf};
  RowKernels<Exec>::reduce(label, exec, shape, rows_schedule(exec, shape, chosen),
                           ReduceRows<Result, Reduction, Finish>{result, reduction, finish});
}

/// The value of a one-row operation on the host: operation(result view), then a wait for exec.
template <class Value, class Exec, class Operation>
Value on_host(const char* label, const Exec& exec, const Operation& operation) {
  if constexpr (Kokkos::SpaceAccessibility<Exec, Kokkos::HostSpace>::accessible) {
    Value value;
    operation(Kokkos::View<Value, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(&value));
    exec.fence(label);
    return value;
  } else {
    Kokkos::View<Value, typename Exec::memory_space> device(Kokkos::view_alloc(exec, std::string(label)));
    operation(device);
    Value value;
    Kokkos::deep_copy(exec, value, device);
    exec.fence(label);
    return value;
  }
}

}  // namespace invar::tree

#endif
