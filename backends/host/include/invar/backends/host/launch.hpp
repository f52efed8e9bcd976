// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Launches on hosts.
#ifndef INVAR_BACKENDS_HOST_LAUNCH_HPP
#define INVAR_BACKENDS_HOST_LAUNCH_HPP

#include <invar/schedule/backend.hpp>

#include <Kokkos_Core.hpp>
#include <cstdint>

namespace invar::backends::host {

/// Calls work(task) for tasks 0 to `tasks` − 1 and returns when all are done, as a parallel_for on a host does.
///
/// What one thread does alone, the calling thread does without a parallel_for, which costs more than a short row: that
/// copies the functor and makes strings and a parallel region even for one thread. A tool that watches kernels is shown
/// the parallel_for.
template <class Exec, class Work>
void launch(const char* label, const Exec& exec, std::int64_t tasks, const Work& work) {
  const bool alone = tasks == 1 || schedule::Backend<Exec>::workers(exec) == 1;
  if (alone && !Kokkos::Tools::profileLibraryLoaded()) {
    for (std::int64_t task = 0; task < tasks; ++task) work(task);
    return;
  }
  Kokkos::parallel_for(label, Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, tasks), work);
}

}  // namespace invar::backends::host

#endif
