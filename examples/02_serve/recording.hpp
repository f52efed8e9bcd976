// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Work that is launched many times, recorded once and replayed where the execution space can do that.
#ifndef SERVE_RECORDING_HPP
#define SERVE_RECORDING_HPP

#include <Kokkos_Core.hpp>

#ifdef KOKKOS_ENABLE_CUDA
#include "cuda_graph.hpp"

#include <map>
#endif

#include <cstddef>

namespace serve {

/// Runs work by its number: calls with one number are to launch the same kernels on the same memory. Here, nothing is
/// recorded.
template <class Exec>
class Recordings {
 public:
  template <class Work>
  void run(const Exec&, std::size_t, const Work& work) {
    work();
  }
  void clear() {}
};

#ifdef KOKKOS_ENABLE_CUDA
/// On an NVIDIA GPU the host needs longer to launch a small kernel than the kernel runs. A CUDA graph launches all of
/// them at once.
template <>
class Recordings<Kokkos::Cuda> {
 public:
  /// The first call only runs the work: a kernel's first launch may load code, which cannot be recorded.
  template <class Work>
  void run(const Kokkos::Cuda& exec, std::size_t number, const Work& work) {
    const auto [entry, is_new] = graphs_.try_emplace(number);
    if (is_new) return work();
    if (!entry->second.recorded()) entry->second.record(exec, work);
    entry->second.replay(exec);
  }
  /// Forgets what was recorded. Nothing of it may be running.
  void clear() { graphs_.clear(); }

 private:
  std::map<std::size_t, CudaGraph> graphs_;
};
#endif

}  // namespace serve

#endif
