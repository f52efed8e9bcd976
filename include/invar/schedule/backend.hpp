// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What a schedule may ask of the machine. One specialisation for each backend, in backends/.
#ifndef INVAR_SCHEDULE_BACKEND_HPP
#define INVAR_SCHEDULE_BACKEND_HPP

#include <Kokkos_Core.hpp>

namespace invar::schedule {

/// The traits of an execution space: how many workers it has, and which team sizes suit it. A specialisation never
/// holds an order of arithmetic.
template <class Exec>
struct Backend {
  static_assert(!sizeof(Exec),
                "Invar: no backend for this execution space. This version has Kokkos::OpenMP, Kokkos::Serial, "
                "Kokkos::Threads and Kokkos::Cuda");
};

}  // namespace invar::schedule

#include <invar/backends/host.hpp>
#ifdef KOKKOS_ENABLE_CUDA
#include <invar/backends/cuda.hpp>
#endif

#endif
