// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The schedules of the elementwise operations on NVIDIA GPUs, and the choice among them.
#ifndef INVAR_BACKENDS_CUDA_ELEMENT_SCHEDULES_HPP
#define INVAR_BACKENDS_CUDA_ELEMENT_SCHEDULES_HPP

#include <invar/schedule/elementwise.hpp>

#include <array>
#include <cstdint>

namespace invar::schedule {

template <>
struct ElementwiseSchedules<Kokkos::Cuda> {
  static constexpr std::array<Elementwise, 3> table{{
      {"warp per item", 1, 32, 1},
      {"block of 128 per item", 1, 128, 1},
      {"as many blocks of 128 per item as it has work for", 1, 128, 1 << 20},
  }};

  static const Elementwise& choose(const Kokkos::Cuda& exec, std::int64_t items, std::int64_t columns) {
    const std::int64_t warps = Backend<Kokkos::Cuda>::workers(exec);
    if (columns <= 256 || (items >= warps && columns <= 4096)) return table[0];
    return items >= 8 * Backend<Kokkos::Cuda>::multiprocessors(exec) ? table[1] : table[2];
  }
};

}  // namespace invar::schedule

#endif
