// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The CUDA backend: NVIDIA GPUs of compute capability 8.0 and up.
#ifndef INVAR_BACKENDS_CUDA_HPP
#define INVAR_BACKENDS_CUDA_HPP

#include <invar/schedule/backend.hpp>

#include <Kokkos_Core.hpp>

namespace invar::schedule {

/// On an NVIDIA GPU a worker is a warp of 32 threads.
template <>
struct Backend<Kokkos::Cuda> {
  static constexpr int warp_size = 32;

  static int multiprocessors(const Kokkos::Cuda& exec) { return exec.cuda_device_prop().multiProcessorCount; }
  /// Warps that run at once.
  static int workers(const Kokkos::Cuda& exec) {
    return multiprocessors(exec) * (exec.cuda_device_prop().maxThreadsPerMultiProcessor / warp_size);
  }
  /// The largest useful team of the generic kernels.
  static int team_size(const Kokkos::Cuda&, int wanted) {
    return wanted < 1 ? 1 : (wanted > warp_size ? warp_size : wanted);
  }
};

}  // namespace invar::schedule

#endif
