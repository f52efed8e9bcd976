// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The host backends: Kokkos::OpenMP, Kokkos::Serial and Kokkos::Threads.
#ifndef INVAR_BACKENDS_HOST_HPP
#define INVAR_BACKENDS_HOST_HPP

#include <invar/schedule/backend.hpp>

#include <Kokkos_Core.hpp>

namespace invar::schedule {

/// On a host a worker is a thread. Threads of one team wait for each other by spinning, so a team never has more
/// threads than the instance.
template <class Exec>
struct HostBackend {
  /// Workers that run at once.
  static int workers(const Exec& exec) {
    // Kokkos 4 may have a static function here, which answers for the default instance unless it is handed another.
    if constexpr (requires { Exec::concurrency(exec); })
      return Exec::concurrency(exec);
    else
      return exec.concurrency();
  }
  /// The largest useful team for work that falls into `tasks` equal parts.
  static int team_size(const Exec& exec, int wanted) {
    constexpr int kokkos_limit = 64;  // threads of a team on a host
    const int most = workers(exec) < kokkos_limit ? workers(exec) : kokkos_limit;
    return wanted < 1 ? 1 : (wanted > most ? most : wanted);
  }
};

#ifdef KOKKOS_ENABLE_OPENMP
template <>
struct Backend<Kokkos::OpenMP> : HostBackend<Kokkos::OpenMP> {};
#endif
#ifdef KOKKOS_ENABLE_SERIAL
template <>
struct Backend<Kokkos::Serial> : HostBackend<Kokkos::Serial> {};
#endif
#ifdef KOKKOS_ENABLE_THREADS
template <>
struct Backend<Kokkos::Threads> : HostBackend<Kokkos::Threads> {};
#endif

}  // namespace invar::schedule

#endif
