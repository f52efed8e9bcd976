// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Row kernels on a GPU: rms_norm against a copy of the same bytes, log_softmax over a vocabulary, sum and dot against
// Kokkos::parallel_reduce. Bytes count every element read and written once.
#include "graph_timer.hpp"

#include <invar/op/dot.hpp>
#include <invar/op/log_softmax.hpp>
#include <invar/op/rms_norm.hpp>
#include <invar/op/sum.hpp>
#include <invar/verify/random.hpp>

#include <cstdint>
#include <utility>

namespace {

using namespace invar;
using Kokkos::Cuda;

template <class T>
using Matrix = Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::CudaSpace>;
template <class T>
using Vector = Kokkos::View<T*, Kokkos::CudaSpace>;

/// Random data, made on the device: the larger shapes would keep a host busy for a minute.
template <class View>
View filled(std::uint64_t seed, View view) {
  auto* const data = view.data();
  using T = typename View::value_type;
  Kokkos::parallel_for(
      "fill", Kokkos::RangePolicy<Cuda, Kokkos::IndexType<std::int64_t>>(0, static_cast<std::int64_t>(view.size())),
      KOKKOS_LAMBDA(std::int64_t i) { data[i] = verify::random_value<T>(seed, i); });
  return view;
}

/// Rows [i·rows, (i + 1)·rows).
template <class T>
auto part(const Matrix<T>& all, int i, std::int64_t rows) {
  return Kokkos::subview(all, std::pair(i * rows, (i + 1) * rows), Kokkos::ALL);
}

void rms_norm_bf16(benchmark::State& state) {
  const std::int64_t rows = state.range(0), columns = state.range(1);
  const double bytes = 4.0 * rows * columns;
  const int calls = perf::calls_for(bytes);
  const auto x = filled(1, Matrix<bfloat16_t>("x", calls * rows, columns));
  const auto weight = filled(2, Vector<bfloat16_t>("weight", columns));
  const Matrix<bfloat16_t> y("y", calls * rows, columns);
  perf::measure(
      state,
      perf::GraphTimer(
          calls, [&](const Cuda& exec, int i) { rms_norm(exec, part(y, i, rows), part(x, i, rows), weight, 1e-6f); }),
      bytes);
}

struct Words {
  uint4* to;
  const uint4* from;
  std::int64_t step;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    uint4 word[4];
    for (int k = 0; k < 4; ++k) word[k] = from[i + k * step];
    for (int k = 0; k < 4; ++k) to[i + k * step] = word[k];
  }
};

/// 16 bytes a load, four loads a thread.
void copy_of_the_same_bytes(benchmark::State& state) {
  const std::int64_t words = state.range(0) * state.range(1) / 8;
  const double bytes = 4.0 * state.range(0) * state.range(1);
  const int calls = perf::calls_for(bytes);
  const Kokkos::View<uint4*, Kokkos::CudaSpace> x("x", calls * words), y("y", calls * words);
  perf::measure(state,
                perf::GraphTimer(calls,
                                 [&](const Cuda& exec, int i) {
                                   Kokkos::parallel_for("copy", Kokkos::RangePolicy<Cuda>(exec, 0, words / 4),
                                                        Words{y.data() + i * words, x.data() + i * words, words / 4});
                                 }),
                bytes);
}

void log_softmax_f32(benchmark::State& state) {
  const std::int64_t rows = state.range(0), columns = state.range(1);
  const double bytes = 8.0 * rows * columns;
  const int calls = perf::calls_for(bytes);
  const auto x = filled(1, Matrix<float>("x", calls * rows, columns));
  const Matrix<float> y("y", calls * rows, columns);
  perf::measure(
      state,
      perf::GraphTimer(calls, [&](const Cuda& exec, int i) { log_softmax(exec, part(y, i, rows), part(x, i, rows)); }),
      bytes);
}

template <bool IsDot, bool IsInvar>
void reduction(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  const auto x = filled(1, Vector<float>("x", n)), y = filled(2, Vector<float>("y", IsDot ? n : 0));
  const Kokkos::View<float, Kokkos::CudaSpace> result("result");
  perf::measure(state,
                perf::GraphTimer(1,
                                 [&](const Cuda& exec, int) {
                                   const Kokkos::RangePolicy<Cuda, Kokkos::IndexType<std::int64_t>> range(exec, 0, n);
                                   if constexpr (IsInvar && IsDot)
                                     dot(exec, result, x, y);
                                   else if constexpr (IsInvar)
                                     sum(exec, result, x);
                                   else if constexpr (IsDot)
                                     Kokkos::parallel_reduce(
                                         "dot", range, KOKKOS_LAMBDA(std::int64_t i, float& s) { s += x(i) * y(i); },
                                         result);
                                   else
                                     Kokkos::parallel_reduce(
                                         "sum", range, KOKKOS_LAMBDA(std::int64_t i, float& s) { s += x(i); }, result);
                                 }),
                (IsDot ? 8.0 : 4.0) * static_cast<double>(n));
}

void norm_shapes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"rows", "columns"});
  for (const auto& [rows, columns] : {std::pair(1, 4096), {8, 4096}, {1, 16384}, {8192, 4096}, {65536, 4096}})
    benchmark->Args({rows, columns});
  perf::median_of_replays(benchmark);
}
void copy_shapes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"rows", "columns"})->Args({8192, 4096})->Args({65536, 4096});
  perf::median_of_replays(benchmark);
}
void vocabulary_shapes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"rows", "columns"});
  for (const int rows : {1, 8, 64, 256}) benchmark->Args({rows, 151936});
  perf::median_of_replays(benchmark);
}
void vector_lengths(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgName("n");
  for (const int n : {1000000, 100000000}) benchmark->Arg(n);
  perf::median_of_replays(benchmark);
}

BENCHMARK(copy_of_the_same_bytes)->Apply(copy_shapes);
BENCHMARK(rms_norm_bf16)->Apply(norm_shapes);
BENCHMARK(log_softmax_f32)->Apply(vocabulary_shapes);
BENCHMARK_TEMPLATE(reduction, false, true)->Name("sum_invar")->Apply(vector_lengths);
BENCHMARK_TEMPLATE(reduction, false, false)->Name("sum_kokkos_parallel_reduce")->Apply(vector_lengths);
BENCHMARK_TEMPLATE(reduction, true, true)->Name("dot_invar")->Apply(vector_lengths);
BENCHMARK_TEMPLATE(reduction, true, false)->Name("dot_kokkos_parallel_reduce")->Apply(vector_lengths);

}  // namespace
