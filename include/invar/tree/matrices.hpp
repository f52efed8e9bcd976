// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Matrices out of views that hold several.
#ifndef INVAR_TREE_MATRICES_HPP
#define INVAR_TREE_MATRICES_HPP

#include <invar/epilogue.hpp>

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace invar::tree {

/// Matrix i of a view [B, M, N].
template <class V>
auto matrix_of(const V& v, std::size_t i) {
  return Kokkos::subview(v, i, Kokkos::ALL, Kokkos::ALL);
}

/// Rows [begin, end) of a matrix.
template <class V>
auto rows_of(const V& v, std::int64_t begin, std::int64_t end) {
  return Kokkos::subview(v, std::pair(begin, end), Kokkos::ALL);
}

/// The part of a batch's epilogue that matrix i takes: the factor and the bias of all, and its own residual.
template <class Bias, class Residual>
auto epilogue_of(const Epilogue<Bias, Residual>& epilogue, [[maybe_unused]] std::size_t i) {
  if constexpr (std::is_same_v<Residual, detail::NoOperand>)
    return epilogue;
  else
    return epilogue.with_residual(matrix_of(epilogue.residual, i));
}

}  // namespace invar::tree

#endif
