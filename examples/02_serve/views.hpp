// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The views that a step computes in, and host memory that a device copies from and to.
#ifndef SERVE_VIEWS_HPP
#define SERVE_VIEWS_HPP

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

namespace serve {

template <class T, class Exec>
using Rows = Kokkos::View<T**, Kokkos::LayoutRight, Exec>;
template <class T, class Exec>
using Heads = Kokkos::View<T***, Kokkos::LayoutRight, Exec>;
template <class T, class Exec>
using Pages = Kokkos::View<T****, Kokkos::LayoutRight, Exec>;
template <class T, class Exec>
using List = Kokkos::View<T*, Kokkos::LayoutRight, Exec>;

/// Views are written before they are read, so nobody has to fill them.
inline auto uninitialized(const std::string& label) { return Kokkos::view_alloc(Kokkos::WithoutInitializing, label); }

/// The first n of a view's rows.
template <class View>
View first_rows(const View& view, std::size_t n) {
  const std::pair<std::size_t, std::size_t> rows(0, n);
  constexpr int rank = static_cast<int>(View::rank);
  if constexpr (rank == 1)
    return Kokkos::subview(view, rows);
  else if constexpr (rank == 2)
    return Kokkos::subview(view, rows, Kokkos::ALL);
  else
    return Kokkos::subview(view, rows, Kokkos::ALL, Kokkos::ALL);
}

/// The same memory as [tokens, heads · head size].
template <class T, class Exec>
Rows<T, Exec> flat(const Heads<T, Exec>& heads) {
  return Rows<T, Exec>(heads.data(), heads.extent(0), heads.extent(1) * heads.extent(2));
}

/// The same memory as [pages · page size, heads · head size]: a row a position.
template <class T, class Exec>
Rows<T, Exec> flat(const Pages<T, Exec>& cache) {
  return Rows<T, Exec>(cache.data(), cache.extent(0) * cache.extent(1), cache.extent(2) * cache.extent(3));
}

/// A view in the memory of a device and the same in the host's, from and to which the device copies without the host
/// waiting; one view where the device is the host.
template <class View>
struct Staged {
  using Memory =
      std::conditional_t<Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename View::memory_space>::accessible,
                         Kokkos::HostSpace, Kokkos::SharedHostPinnedSpace>;
  using Host = Kokkos::View<typename View::data_type, typename View::array_layout, Memory>;

  Staged() = default;
  Staged(View device_view, Host host_view) : device(std::move(device_view)), host(std::move(host_view)) {}
  explicit Staged(const View& device_view)
      : Staged(device_view, Kokkos::create_mirror_view(Kokkos::WithoutInitializing, Memory(), device_view)) {}

  Staged first(std::size_t n) const { return {first_rows(device, n), first_rows(host, n)}; }
  template <class Exec>
  void to_device(const Exec& exec) const {
    Kokkos::deep_copy(exec, device, host);
  }
  template <class Exec>
  void to_host(const Exec& exec) const {
    Kokkos::deep_copy(exec, host, device);
  }

  View device;
  Host host;
};

}  // namespace serve

#endif
