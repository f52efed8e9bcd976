// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Conjugate gradients for the 3-D Poisson equation, whose residual history has the same bits at every thread count
/// and, where Kokkos has one, on the GPU.
///
/// Of the solver's operations only the two inner products depend on who computes them. Here they come from invar::dot;
/// the same solver with Kokkos::parallel_reduce runs beside it.

#include <invar/op/dot.hpp>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using HostExec = Kokkos::DefaultHostExecutionSpace;
using DeviceExec = Kokkos::DefaultExecutionSpace;  // the GPU where Kokkos has one, else the host

template <class Exec>
using Vector = Kokkos::View<double*, Exec>;

struct InvarDot {
  static constexpr const char* name = "invar::dot";
  template <class Exec>
  static double dot(const Exec& exec, const Vector<Exec>& x, const Vector<Exec>& y) {
    return invar::dot(exec, x, y);
  }
};

struct KokkosDot {
  static constexpr const char* name = "Kokkos::parallel_reduce";
  template <class Exec>
  static double dot(const Exec& exec, const Vector<Exec>& x, const Vector<Exec>& y) {
    double sum = 0;
    Kokkos::parallel_reduce(
        "dot", Kokkos::RangePolicy<Exec>(exec, 0, x.extent(0)),
        KOKKOS_LAMBDA(int i, double& partial) { partial += x(i) * y(i); }, sum);
    return sum;
  }
};

/// y = A·x for the seven-point Laplacian on an n×n×n grid with zero boundary values.
template <class Exec>
void apply_laplacian(const Exec& exec, const Vector<Exec>& y, const Vector<Exec>& x, int n) {
  Kokkos::parallel_for(
      "laplacian", Kokkos::RangePolicy<Exec>(exec, 0, n * n * n), KOKKOS_LAMBDA(int cell) {
        const int i = cell / (n * n);
        const int j = cell / n % n;
        const int k = cell % n;
        double neighbours = 0;
        if (i > 0) neighbours += x(cell - n * n);
        if (i < n - 1) neighbours += x(cell + n * n);
        if (j > 0) neighbours += x(cell - n);
        if (j < n - 1) neighbours += x(cell + n);
        if (k > 0) neighbours += x(cell - 1);
        if (k < n - 1) neighbours += x(cell + 1);
        y(cell) = Kokkos::fma(6.0, x(cell), -neighbours);
      });
}

/// y = a·x + y, each element with one rounding.
template <class Exec>
void axpy(const Exec& exec, double a, const Vector<Exec>& x, const Vector<Exec>& y) {
  Kokkos::parallel_for(
      "axpy", Kokkos::RangePolicy<Exec>(exec, 0, x.extent(0)),
      KOKKOS_LAMBDA(int i) { y(i) = Kokkos::fma(a, x(i), y(i)); });
}

/// Solves A·x = b for a right-hand side that varies from cell to cell, and returns |r|² after each iteration.
template <class Dot, class Exec>
std::vector<double> solve(const Exec& exec, int n, int iterations) {
  const int cells = n * n * n;
  const Vector<Exec> x(Kokkos::view_alloc(exec, "x"), cells);
  const Vector<Exec> r(Kokkos::view_alloc(exec, "r"), cells);
  const Vector<Exec> p(Kokkos::view_alloc(exec, "p"), cells);
  const Vector<Exec> ap(Kokkos::view_alloc(exec, "Ap"), cells);
  Kokkos::parallel_for(
      "right-hand side", Kokkos::RangePolicy<Exec>(exec, 0, cells), KOKKOS_LAMBDA(int i) {
        const auto mixed = static_cast<std::uint32_t>(i) * 2654435761u;
        r(i) = p(i) = static_cast<double>(mixed) * 0x1p-32 - 0.5;  // exact, so a compiler may contract it
      });

  std::vector<double> history;
  double residual = Dot::dot(exec, r, r);
  for (int iteration = 0; iteration < iterations && residual > 0; ++iteration) {
    apply_laplacian(exec, ap, p, n);
    const double step = residual / Dot::dot(exec, p, ap);
    axpy(exec, step, p, x);
    axpy(exec, -step, ap, r);
    const double next = Dot::dot(exec, r, r);
    const double beta = next / residual;
    Kokkos::parallel_for(
        "direction", Kokkos::RangePolicy<Exec>(exec, 0, cells),
        KOKKOS_LAMBDA(int i) { p(i) = Kokkos::fma(beta, p(i), r(i)); });
    residual = next;
    history.push_back(residual);
  }
  exec.fence();
  return history;
}

/// The first iteration whose residual has other bits, or −1.
int first_difference(const std::vector<double>& a, const std::vector<double>& b) {
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
    if (std::bit_cast<std::uint64_t>(a[i]) != std::bit_cast<std::uint64_t>(b[i])) return static_cast<int>(i);
  return a.size() == b.size() ? -1 : static_cast<int>(std::min(a.size(), b.size()));
}

/// The residuals of one run of the solver.
struct History {
  std::string label;
  std::vector<double> residuals;
};

/// A run for each thread count where the host has threads; three runs elsewhere.
template <class Dot>
void run_on_host(std::vector<History>& histories, int n, int iterations) {
  const auto run = [&](const std::string& label, const HostExec& exec) {
    histories.push_back({label, solve<Dot>(exec, n, iterations)});
  };
#ifdef KOKKOS_ENABLE_OPENMP
  if constexpr (std::is_same_v<HostExec, Kokkos::OpenMP>)
    for (const int threads : {1, 2, 3, 7})
      run(std::to_string(threads) + (threads == 1 ? " thread" : " threads"), HostExec(threads));
  else
#endif
    for (const int i : {1, 2, 3}) run("run " + std::to_string(i), HostExec());
}

/// Runs on the default instance of the GPU and on two others, each with a stream of its own.
template <class Dot>
void run_on_device(std::vector<History>& histories, int n, int iterations) {
  histories.push_back({DeviceExec::name(), solve<Dot>(DeviceExec(), n, iterations)});
  const auto instances = Kokkos::Experimental::partition_space(DeviceExec(), 1, 1);
  for (const DeviceExec& exec : instances)
    histories.push_back({std::string(DeviceExec::name()) + " stream " + std::to_string(&exec - instances.data() + 1),
                         solve<Dot>(exec, n, iterations)});
}

/// Solves in all ways that there are, prints the histories, and returns whether all have the same bits.
template <class Dot>
bool show(int n, std::size_t iterations) {
  std::vector<History> histories;
  run_on_host<Dot>(histories, n, static_cast<int>(iterations));
  if constexpr (!std::is_same_v<DeviceExec, HostExec>) run_on_device<Dot>(histories, n, static_cast<int>(iterations));
  std::printf("\n|r|^2 with %s, bit patterns\n%10s", Dot::name, "iteration");
  for (const History& history : histories) std::printf("  %16s", history.label.c_str());
  std::printf("\n");
  for (const std::size_t i : std::initializer_list<std::size_t>{0, 1, 2, 5, 10, 20, 50, 100, iterations - 1}) {
    std::printf("%10zu", i + 1);
    for (const History& history : histories)
      if (i < history.residuals.size())
        std::printf("  %016llx", static_cast<unsigned long long>(std::bit_cast<std::uint64_t>(history.residuals[i])));
      else
        std::printf("  %16s", "solved");  // the residual is exactly zero
    std::printf("\n");
  }
  bool equal = true;
  const History& first = histories.front();
  for (std::size_t run = 1; run < histories.size(); ++run) {
    const History& history = histories[run];
    const int at = first_difference(first.residuals, history.residuals);
    equal = equal && at < 0;
    if (at < 0)
      std::printf("%s: all %zu residuals have the bits of the run with %s\n", history.label.c_str(),
                  first.residuals.size(), first.label.c_str());
    else
      std::printf("%s: differs from the run with %s from iteration %d on\n", history.label.c_str(), first.label.c_str(),
                  at + 1);
  }
  return equal;
}

}  // namespace

int main(int argc, char* argv[]) {
  Kokkos::InitializationSettings settings;
  settings.set_num_threads(7);
  settings.set_disable_warnings(true);  // seven threads may be more than the machine has cores; that is the point here
  Kokkos::ScopeGuard guard(settings);

  int n = 48;
  if (argc > 2 || (argc == 2 && (std::from_chars(argv[1], argv[1] + std::strlen(argv[1]), n).ec != std::errc{} ||
                                 n < 2 || n > 512))) {
    std::fprintf(stderr, "usage: reproducible_cg [cells along an edge, 2 to 512; default 48]\n");
    return 2;
  }
  constexpr std::size_t iterations = 150;
  constexpr bool on_gpu = !std::is_same_v<DeviceExec, HostExec>;
  std::printf("Conjugate gradients, 3-D Poisson, %d x %d x %d cells, %zu iterations, %s%s%s\n", n, n, n, iterations,
              HostExec::name(), on_gpu ? " and " : "", on_gpu ? DeviceExec::name() : "");
  const bool invar_equal = show<InvarDot>(n, iterations);
  const bool kokkos_equal = show<KokkosDot>(n, iterations);
  std::printf("\nSame bits at every thread count%s: %s %s, %s %s\n", on_gpu ? " and on the GPU" : "", InvarDot::name,
              invar_equal ? "yes" : "NO", KokkosDot::name, kokkos_equal ? "yes (this time)" : "no");
  return invar_equal ? 0 : 1;
}
