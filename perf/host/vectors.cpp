// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions of one vector to a number on the host, against Kokkos::parallel_reduce, which sums in another order with
// another number of threads.

#include "../support/contest.hpp"
#include "memory.hpp"

#include <invar/op/dot.hpp>
#include <invar/op/norm2.hpp>
#include <invar/op/sum.hpp>

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdint>
#include <vector>

namespace {

using namespace invar;
using namespace invar::perf;
using Range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;

/// The sum of term(i), as Kokkos has it.
template <class Term>
float kokkos_sum(const Exec& exec, std::int64_t n, const Term& term) {
  float total = 0;
  Kokkos::parallel_reduce(
      "peer", Range(exec, 0, n), [=](std::int64_t i, float& sum) { sum += term(i); }, total);
  return total;
}

Case describe(const char* operation, std::int64_t n) {
  return {operation, {{"n", n}}, (operation[0] == 'd' ? 8.0 : 4.0) * static_cast<double>(n), 0};
}

template <class Ours, class Peer>
void measure(Contests& contests, const Case& work, const Ours& ours, const Peer& peer, const Vector<float>& x,
             const Vector<float>& y = {}) {
  const auto read = [](const Vector<float>& v) {
    read_loop(Exec(), v.data(), static_cast<std::int64_t>(v.size() * sizeof(float)) / 512 * 512);
  };
  float seen = 0;  // where the value goes
  const auto result = [&seen] { return std::vector<double>{seen}; };
  // A chain of 10^7 floats loses digits, and Kokkos has one such chain a thread.
  contests.run(work, {{"Invar", Role::invar, [&](std::int64_t) { seen = ours(); }, result},
                      {"parallel_reduce", Role::peer, [&](std::int64_t) { seen = peer(); }, result, 0.5},
                      {"read loop", Role::limit, [=](std::int64_t) {
                         read(x);
                         if (y.size() > 0) read(y);
                       }}});
}

}  // namespace

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos;
  Contests contests(argc, argv);
  const Exec exec;
  const std::vector<std::int64_t> all{1000, 10'000, 100'000, 1'000'000, 10'000'000, 100'000'000},
      few{1000, 30'000, 1'000'000, 30'000'000};
  struct Wanted {
    std::int64_t n;
    bool sum, dot, norm2;
  };
  std::vector<Wanted> sizes;
  for (const std::int64_t n : contests.quick() ? few : all)
    sizes.push_back({n, contests.announce(describe("sum", n)), contests.announce(describe("dot", n)),
                     contests.announce(describe("norm2", n))});
  for (const auto& [n, with_sum, with_dot, with_norm2] : sizes) {
    if (!with_sum && !with_dot && !with_norm2) continue;
    const Vector<float> x("x", n), y("y", n);
    fill(x, 1);
    // Terms of one sign, so that the two sums can be compared.
    const float* const a = x.data();
    float* const b = y.data();
    Kokkos::parallel_for("positive", Range(exec, 0, n), [=](std::int64_t i) { b[i] = 0.5f + 0.5f * a[i]; });
    exec.fence();
    const float* const p = b;
    if (with_sum)
      measure(
          contests, describe("sum", n), [&] { return sum(exec, y); },
          [&] { return kokkos_sum(exec, n, [p](std::int64_t i) { return p[i]; }); }, y);
    if (with_dot) {
      const Vector<float> z("z", n);
      fill(z, 3);
      float* const q = z.data();
      Kokkos::parallel_for("positive", Range(exec, 0, n), [=](std::int64_t i) { q[i] = 0.5f + 0.5f * q[i]; });
      exec.fence();
      measure(
          contests, describe("dot", n), [&] { return dot(exec, y, z); },
          [&] { return kokkos_sum(exec, n, [p, q](std::int64_t i) { return p[i] * q[i]; }); }, y, z);
    }
    if (with_norm2)
      measure(
          contests, describe("norm2", n), [&] { return norm2(exec, x); },
          [&] { return std::sqrt(kokkos_sum(exec, n, [a](std::int64_t i) { return a[i] * a[i]; })); }, x);
  }
  return contests.finish();
}
