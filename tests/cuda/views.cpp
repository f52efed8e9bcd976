// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Test data, digests and comparisons of views in device memory, with and without gaps.
#include "support/check_bits.hpp"
#include "support/environment.hpp"

#include <invar/verify/digest.hpp>
#include <invar/verify/random.hpp>

#include <cstdint>
#include <utility>

using namespace invar;
using invar::test::Execution;

TEST_CASE_TEMPLATE("a device view has the data, the digest and the comparison of a host view", T, float, double,
                   bfloat16_t, verify::Trace) {
  using Device = Execution::memory_space;
  const Kokkos::View<T***, Kokkos::LayoutRight, Kokkos::HostSpace> host("host", 3, 4, 5);
  const Kokkos::View<T***, Kokkos::LayoutRight, Device> right("right", 3, 4, 5);
  const Kokkos::View<T***, Kokkos::LayoutLeft, Device> left("left", 3, 4, 5), wide("wide", 6, 7, 8);
  const auto window = Kokkos::subview(wide, std::pair(1, 4), std::pair(2, 6), std::pair(3, 8));
  verify::fill_random(host, 7);
  verify::fill_random(right, 7);
  verify::fill_random(left, 7);
  verify::fill_random(wide, 1);
  verify::fill_random(window, 7);
  CHECK_BITS(host, right);
  CHECK_BITS(left, host);
  CHECK_BITS(host, window);
  CHECK(verify::digest(right) == verify::digest(host));
  CHECK(verify::digest(left) == verify::digest(host));
  CHECK(verify::digest(window) == verify::digest(host));
  verify::fill_random(Kokkos::subview(window, 2, 3, Kokkos::ALL), 8);
  CHECK_BITS_DIFFER(host, window);
}

TEST_CASE("a kernel's random values are the host's") {
  constexpr int n = 10000;
  const Kokkos::View<float*, Execution> a("a", n);
  const Kokkos::View<bfloat16_t*, Execution> b("b", n);
  const Kokkos::View<double*, Execution> c("c", n);
  Kokkos::parallel_for(
      "fill", Kokkos::RangePolicy<Execution>(0, n), KOKKOS_LAMBDA(int i) {
        a(i) = verify::random_value<float>(3, i);
        b(i) = verify::random_value<bfloat16_t>(3, i);
        c(i) = verify::random_value<double>(3, i);
      });
  const auto check = [](const auto& device) {
    using T = typename std::decay_t<decltype(device)>::value_type;
    const Kokkos::View<T*, Kokkos::HostSpace> host("host", n);
    verify::fill_random(host, 3);
    CHECK_BITS(host, device);
  };
  check(a);
  check(b);
  check(c);
}
