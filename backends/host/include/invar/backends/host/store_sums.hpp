// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The end of a product on a host: a block of finished sums to c.
#ifndef INVAR_BACKENDS_HOST_STORE_SUMS_HPP
#define INVAR_BACKENDS_HOST_STORE_SUMS_HPP

#include <invar/backends/host/simd.hpp>
#include <invar/num/types.hpp>
#include <invar/tree/matmul_store.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace invar::backends::host {

/// A row of sums that only have to be rounded, as far as whole vectors go; returns how far.
template <class E, class T>
std::int64_t store_rounded(E* to, const T* sums, std::int64_t columns) {
  if constexpr (std::is_same_v<E, T>) {
    constexpr int lanes = Vector<T>::lanes;
    std::int64_t j = 0;
    for (; j + lanes <= columns; j += lanes) canonical(Vector<T>::load(sums + j)).store(to + j);
    return j;
  } else {
    for (std::int64_t j = 0; j < columns; ++j) to[j] = num::narrow<E>(sums[j]);
    return columns;
  }
}

/// Sums of `rows` rows, which lie `row_stride` apart, to rows row0 … and columns column0 … of c; sums beyond c's last
/// column are dropped.
template <class C, class Epilogue, class T>
void store_sums(const invar::detail::MatmulStore<C, Epilogue>& store, const T* sums, std::int64_t row_stride,
                std::int64_t row0, int rows, std::int64_t column0) {
  const std::int64_t columns = std::min(row_stride, static_cast<std::int64_t>(store.c.extent(1)) - column0);
  for (int i = 0; i < rows; ++i, sums += row_stride) {
    std::int64_t j = 0;
    if constexpr (!Epilogue::has_bias && !Epilogue::has_residual)
      if (store.c.stride(1) == 1 && !store.epilogue.is_scaled && !store.is_empty)
        j = store_rounded(&store.c(row0 + i, column0), sums, columns);
    for (; j < columns; ++j) store(row0 + i, column0 + j, sums[j]);
  }
}

}  // namespace invar::backends::host

#endif
