// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Conjugate gradients for the 3-D Poisson equation, whose residual history has the same bits at every thread count.
///
/// Of the solver's operations only the two inner products depend on the number of threads. Here they come from
/// invar::dot; the same solver with Kokkos::parallel_reduce runs beside it.

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

using Exec = Kokkos::DefaultExecutionSpace;
using Vector = Kokkos::View<double*, Exec>;

struct InvarDot {
  static constexpr const char* name = "invar::dot";
  static double dot(const Exec& exec, const Vector& x, const Vector& y) { return invar::dot(exec, x, y); }
};

struct KokkosDot {
  static constexpr const char* name = "Kokkos::parallel_reduce";
  static double dot(const Exec& exec, const Vector& x, const Vector& y) {
    double sum = 0;
    Kokkos::parallel_reduce(
        "dot", Kokkos::RangePolicy<Exec>(exec, 0, x.extent(0)),
        KOKKOS_LAMBDA(int i, double& partial) { partial += x(i) * y(i); }, sum);
    return sum;
  }
};

/// y = A·x for the seven-point Laplacian on an n×n×n grid with zero boundary values.
void apply_laplacian(const Exec& exec, const Vector& y, const Vector& x, int n) {
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
void axpy(const Exec& exec, double a, const Vector& x, const Vector& y) {
  Kokkos::parallel_for(
      "axpy", Kokkos::RangePolicy<Exec>(exec, 0, x.extent(0)),
      KOKKOS_LAMBDA(int i) { y(i) = Kokkos::fma(a, x(i), y(i)); });
}

/// Solves A·x = b for a right-hand side that varies from cell to cell, and returns |r|² after each iteration.
template <class Dot>
std::vector<double> solve(const Exec& exec, int n, int iterations) {
  const int cells = n * n * n;
  const Vector x(Kokkos::view_alloc(exec, "x"), cells);
  const Vector r(Kokkos::view_alloc(exec, "r"), cells);
  const Vector p(Kokkos::view_alloc(exec, "p"), cells);
  const Vector ap(Kokkos::view_alloc(exec, "Ap"), cells);
  Kokkos::parallel_for(
      "right-hand side", Kokkos::RangePolicy<Exec>(exec, 0, cells), KOKKOS_LAMBDA(int i) {
        const auto mixed = static_cast<std::uint32_t>(i) * 2654435761u;
        r(i) = p(i) = static_cast<double>(mixed) * 0x1p-32 - 0.5;
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

/// One run of the solver.
struct Run {
  std::string label;
  Exec exec;
};

/// An instance for each thread count where the execution space has threads; the default instance, three times,
/// elsewhere.
std::vector<Run> runs() {
#ifdef KOKKOS_ENABLE_OPENMP
  if constexpr (std::is_same_v<Exec, Kokkos::OpenMP>)
    return {{"1 thread", Exec(1)}, {"2 threads", Exec(2)}, {"3 threads", Exec(3)}, {"7 threads", Exec(7)}};
#endif
  return {{"run 1", Exec()}, {"run 2", Exec()}, {"run 3", Exec()}};
}

/// Solves once per run, prints the history, and returns whether all histories have the same bits.
template <class Dot>
bool show(int n, std::size_t iterations) {
  std::vector<std::string> labels;
  std::vector<std::vector<double>> histories;
  for (const Run& run : runs()) {
    labels.push_back(run.label);
    histories.push_back(solve<Dot>(run.exec, n, static_cast<int>(iterations)));
  }
  std::printf("\n|r|^2 with %s, bit patterns\n%10s", Dot::name, "iteration");
  for (const std::string& label : labels) std::printf("  %16s", label.c_str());
  std::printf("\n");
  for (const std::size_t i : std::initializer_list<std::size_t>{0, 1, 2, 5, 10, 20, 50, 100, iterations - 1}) {
    std::printf("%10zu", i + 1);
    for (const auto& history : histories)
      if (i < history.size())
        std::printf("  %016llx", static_cast<unsigned long long>(std::bit_cast<std::uint64_t>(history[i])));
      else
        std::printf("  %16s", "solved");  // the residual is exactly zero
    std::printf("\n");
  }
  bool equal = true;
  for (std::size_t run = 1; run < histories.size(); ++run) {
    const int at = first_difference(histories[0], histories[run]);
    equal = equal && at < 0;
    if (at < 0)
      std::printf("%s: all %zu residuals have the bits of the run with %s\n", labels[run].c_str(), histories[0].size(),
                  labels[0].c_str());
    else
      std::printf("%s: differs from the run with %s from iteration %d on\n", labels[run].c_str(), labels[0].c_str(),
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
  std::printf("Conjugate gradients, 3-D Poisson, %d x %d x %d cells, %zu iterations, %s\n", n, n, n, iterations,
              Exec::name());
  const bool invar_equal = show<InvarDot>(n, iterations);
  const bool kokkos_equal = show<KokkosDot>(n, iterations);
  std::printf("\nSame bits at every thread count: %s %s, %s %s\n", InvarDot::name, invar_equal ? "yes" : "NO",
              KokkosDot::name, kokkos_equal ? "yes (this time)" : "no");
  return invar_equal ? 0 : 1;
}
