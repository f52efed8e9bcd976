// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the tests run, and how much of them: the execution space, its memory, and what the environment asks for.
#ifndef INVAR_TESTS_SUPPORT_ENVIRONMENT_HPP
#define INVAR_TESTS_SUPPORT_ENVIRONMENT_HPP

#include <Kokkos_Core.hpp>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <type_traits>
#include <vector>

namespace invar::test {

/// How much INVAR_TEST_SIZE asks for. Small: shorter lists, for unoptimised builds and emulators. Tiny: two values of
/// each, for tools that take a moment over every launch.
enum class Size { full, small, tiny };

inline Size size() {
  const char* const value = std::getenv("INVAR_TEST_SIZE");
  const std::string name = value != nullptr ? value : "full";
  return name == "tiny" ? Size::tiny : name == "small" ? Size::small : Size::full;
}

inline bool is_small() { return size() != Size::full; }
inline bool is_tiny() { return size() == Size::tiny; }

/// The full list, or a short one where the environment asks for it.
template <class T>
std::vector<T> by_size(std::vector<T> full, std::vector<T> small) {
  if (size() == Size::tiny && small.size() > 2) return {small.front(), small.back()};
  return is_small() ? small : full;
}

using Execution = Kokkos::DefaultExecutionSpace;

/// Memory that Execution and a test's own code both reach: on a GPU the host's, which the device reads where it lies.
using Memory = std::conditional_t<Kokkos::SpaceAccessibility<Kokkos::HostSpace, Execution::memory_space>::accessible,
                                  Execution::memory_space, Kokkos::SharedHostPinnedSpace>;

/// The instances on which tests run: of 1, 2, 3 and 7 threads, as far as the process has them; on a GPU the default one
/// and some with streams of their own. Says once which.
const std::vector<Execution>& executions();

/// Those of them on which every schedule runs: all, or the last one where the tests are to be tiny.
inline std::vector<Execution> executions_of_schedules() {
  return is_tiny() ? std::vector<Execution>{executions().back()} : executions();
}

/// An instance in a message.
std::string describe(const Execution& exec);

#ifdef KOKKOS_ENABLE_CUDA

namespace detail {
inline std::vector<cudaStream_t>& streams() {
  static std::vector<cudaStream_t> list;
  return list;
}
}  // namespace detail

inline std::string describe(const Execution& exec) {
  return exec == Execution() ? "the default instance"
                             : "the instance " + std::to_string(exec.impl_instance_id()) + " with a stream of its own";
}

inline std::vector<Execution> make_executions() {
  std::vector<Execution> list{Execution()};
  for (int i = 0; i < (size() == Size::tiny ? 1 : 2); ++i) {
    cudaStream_t stream = nullptr;
    if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) Kokkos::abort("no stream");
    detail::streams().push_back(stream);
    list.emplace_back(Execution(stream));
  }
  std::printf("tested: %s, the default instance and %zu more\n", list[0].cuda_device_prop().name, list.size() - 1);
  return list;
}

inline void release_streams() {
  for (const cudaStream_t stream : detail::streams()) (void)cudaStreamDestroy(stream);
  detail::streams().clear();
}

#else

inline std::string describe(const Execution& exec) { return std::to_string(exec.concurrency()) + " threads"; }

inline std::vector<Execution> make_executions() {
  std::vector<Execution> list;
#ifdef KOKKOS_ENABLE_OPENMP
  const int most = Execution().concurrency();
  for (const int threads : {1, 2, 3, 7})
    if (threads <= most) list.emplace_back(Execution(threads));
#else
  list.emplace_back();
#endif
  std::printf("threads tested:");
  for (const Execution& exec : list) std::printf(" %d", exec.concurrency());
  std::printf("\n");
  return list;
}

inline void release_streams() {}

#endif

inline const std::vector<Execution>& executions() {
  static const std::vector<Execution> instances = [] {
    // The instances must not outlive Kokkos.
    Kokkos::push_finalize_hook([] {
      const_cast<std::vector<Execution>&>(executions()).clear();
      release_streams();
    });
    return make_executions();
  }();
  return instances;
}

}  // namespace invar::test

#endif
