// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Maps over the columns of a row on hosts, in vectors.
#ifndef INVAR_BACKENDS_HOST_COLUMNS_HPP
#define INVAR_BACKENDS_HOST_COLUMNS_HPP

#include <Kokkos_Macros.hpp>
#include <cstdint>

#if !defined(__CUDACC__)
#include <invar/backends/host/vector_functions.hpp>
#include <invar/backends/host/vector_memory.hpp>

#include <type_traits>
#endif

namespace invar::backends::host {

/// Stores f(operands...) in columns [begin, end) of the outputs. An output may be an operand's view.
template <class F, class Out, class... Operand>
KOKKOS_FUNCTION void map_columns(std::int64_t row, std::int64_t begin, std::int64_t end, const F& f, const Out& out,
                                 const Operand&... operand) {
#if !defined(__CUDACC__)
  if constexpr (sizeof...(Operand) > 0) {
    using V = Vector<std::common_type_t<typename Operand::value_type...>>;
    std::int64_t j = begin;
    for (; j + V::lanes <= end; j += V::lanes)
      store(out, row, j, f(load<V>(operand, row, j, AllLanes())...), AllLanes());
    if (j < end) {
      const FirstLanes part{static_cast<int>(end - j)};
      store(out, row, j, f(load<V>(operand, row, j, part)...), part);
    }
    return;
  }
#endif
  for (std::int64_t j = begin; j < end; ++j) out.store(row, j, f(operand(row, j)...));
}

}  // namespace invar::backends::host

#endif
