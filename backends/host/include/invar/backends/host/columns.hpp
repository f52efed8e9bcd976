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

/// Columns of the longest row that is fetched while the one above it is still in use: both have to fit a cache.
inline constexpr std::int64_t longest_fetched = 1 << 16;

/// Stores f(operands...) in columns [begin, end) of the outputs. An output may be an operand's view.
///
/// \param past_caches  for outputs that do not fit the caches: stores may bypass them, and the next row is asked for,
/// so
///                     that memory reads while it writes
template <class F, class Out, class... Operand>
KOKKOS_FUNCTION void map_columns(std::int64_t row, std::int64_t begin, std::int64_t end, bool past_caches, const F& f,
                                 const Out& out, const Operand&... operand) {
#if !defined(__CUDACC__)
  if constexpr (sizeof...(Operand) > 0) {
    using T = std::common_type_t<typename Operand::value_type...>;
    using V = Vector<T>;
    const AllLanes all{past_caches && begin < end && is_for_streams<T>(out, row, begin)};
    const bool fetches = past_caches && end - begin <= longest_fetched;
    std::int64_t j = begin;
    for (; j + V::lanes <= end; j += V::lanes) {
      if (fetches) (fetch_below(operand, row, j), ...);
      store(out, row, j, f(load<V>(operand, row, j, all)...), all);
    }
    if (all.past_caches) end_streams();
    if (j < end) {
      const FirstLanes part{static_cast<int>(end - j)};
      store(out, row, j, f(load<V>(operand, row, j, part)...), part);
    }
    return;
  }
#endif
  (void)past_caches;
  for (std::int64_t j = begin; j < end; ++j) out.store(row, j, f(operand(row, j)...));
}

}  // namespace invar::backends::host

#endif
