// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RMSNorm against a plain copy of the same rows: both read and write each element once, so the copy is the bound that
// memory sets (16-bit integers stand for bfloat16). Bytes per second count one read and one write of every element for
// both.
#include <invar/op/rms_norm.hpp>
#include <invar/verify/random.hpp>

#include <benchmark/benchmark.h>
#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

namespace {

using Exec = Kokkos::DefaultExecutionSpace;

template <class T>
using Matrix = Kokkos::View<T**, Kokkos::LayoutRight, Exec>;
template <class T>
using Vector = Kokkos::View<T*, Exec>;

template <class T>
void fill_with_bits(const Matrix<T>& values) {
  Kokkos::parallel_for(
      "fill",
      Kokkos::MDRangePolicy<Exec, Kokkos::Rank<2>>(
          {0, 0}, {static_cast<std::int64_t>(values.extent(0)), static_cast<std::int64_t>(values.extent(1))}),
      KOKKOS_LAMBDA(std::int64_t i, std::int64_t j) {
        values(i, j) = static_cast<T>(invar::verify::random_bits(1, i * values.extent(1) + j));
      });
  Kokkos::fence();
}

template <class T>
struct Rows {
  Matrix<T> x, y;
  Vector<T> weight;

  explicit Rows(const benchmark::State& state)
      : x("x", state.range(0), state.range(1)),
        y("y", state.range(0), state.range(1)),
        weight("weight", state.range(1)) {
    if constexpr (!std::is_integral_v<T>) {
      invar::verify::fill_random(x, 1);
      invar::verify::fill_random(weight, 2);
    } else {
      fill_with_bits(x);
    }
  }
};

template <class T>
void report(benchmark::State& state) {
  const std::int64_t elements = state.range(0) * state.range(1);
  state.SetBytesProcessed(state.iterations() * elements * 2 * static_cast<std::int64_t>(sizeof(T)));
}

template <class T>
void invar_rms_norm(benchmark::State& state) {
  const Exec exec;
  const Rows<T> rows(state);
  for (auto _ : state) {
    invar::rms_norm(exec, rows.y, rows.x, rows.weight, 1e-6f);
    exec.fence();
  }
  report<T>(state);
}

template <class T>
void copy(benchmark::State& state) {
  const Exec exec;
  const Rows<T> rows(state);
  const Matrix<T> x = rows.x, y = rows.y;
  const std::int64_t columns = state.range(1);
  for (auto _ : state) {
    Kokkos::parallel_for(
        "copy", Kokkos::RangePolicy<Exec>(exec, 0, state.range(0)), KOKKOS_LAMBDA(std::int64_t i) {
          const T* const from = &x(i, 0);
          T* const to = &y(i, 0);
          for (std::int64_t j = 0; j < columns; ++j) to[j] = from[j];
        });
    exec.fence();
  }
  report<T>(state);
}

void shapes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"rows", "columns"})->UseRealTime();
  for (const int rows : {1, 64, 1024}) benchmark->Args({rows, 4096});
}

BENCHMARK_TEMPLATE(invar_rms_norm, float)->Apply(shapes);
BENCHMARK_TEMPLATE(copy, float)->Apply(shapes);
BENCHMARK_TEMPLATE(invar_rms_norm, invar::bfloat16_t)->Apply(shapes);
BENCHMARK_TEMPLATE(copy, std::int16_t)->Apply(shapes);

}  // namespace
