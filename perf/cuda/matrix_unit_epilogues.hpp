// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Section "epilogues": what Invar does to a product's sums before it stores them, against cuBLAS and a kernel after it.
#ifndef INVAR_PERF_CUDA_MATRIX_UNIT_EPILOGUES_HPP
#define INVAR_PERF_CUDA_MATRIX_UNIT_EPILOGUES_HPP

#include "matrix_unit_bench.hpp"
#include "matrix_unit_products.hpp"

#include <invar/op/matmul.hpp>
#include <invar/op/matmul_silu_mul.hpp>
#include <invar/op/silu_mul.hpp>

#include <cstdint>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

namespace invar::perf {

inline constexpr double asked_of_epilogues = 1.1;

template <class T>
struct alignas(16) Pack {
  T values[8];
};

/// c += y, 16 bytes at a time.
template <class T>
void add(const Cuda& exec, T* c, const T* y, std::int64_t count) {
  auto* const to = reinterpret_cast<Pack<T>*>(c);
  const auto* const from = reinterpret_cast<const Pack<T>*>(y);
  Kokkos::parallel_for(
      "add", Kokkos::RangePolicy<Cuda, Kokkos::IndexType<int>>(exec, 0, static_cast<int>(count / 8)),
      KOKKOS_LAMBDA(int i) {
        Pack<T> sum = to[i];
        const Pack<T> other = from[i];
        for (int j = 0; j < 8; ++j)
          sum.values[j] = T(static_cast<float>(sum.values[j]) + static_cast<float>(other.values[j]));
        to[i] = sum;
      });
}

inline std::vector<std::pair<std::string, std::string>> epilogue_columns(const char* kernel) {
  const std::string after = std::string(" and ") + kernel;
  return {{"n", "N"},
          {"k", "K"},
          {"m", "M"},
          {"gemm_ex_cold", "GemmEx" + after},
          {"gemm_ex_rotated", "/"},
          {"lt_cold", "best of Lt" + after},
          {"lt_rotated", "/"},
          {"invar_cold", "Invar"},
          {"invar_rotated", "/"},
          {"gemm_ex_over_invar_cold", "GemmEx / Invar"},
          {"gemm_ex_over_invar_rotated", "/"},
          {"lt_over_invar_cold", "Lt / Invar"},
          {"lt_over_invar_rotated", "/"}};
}

/// Ratios of an epilogue's table, whose last four columns they are.
class EpilogueMeans {
 public:
  std::vector<Cell> row(int n, int k, int m, const std::vector<Figure>& f) {
    const double figures[] = {f[0].cold / f[2].cold, f[0].rotated / f[2].rotated, f[1].cold / f[2].cold,
                              f[1].rotated / f[2].rotated};
    for (int i = 0; i < 4; ++i) ratios_[i].push_back(figures[i]);
    return {std::int64_t{n}, std::int64_t{k}, std::int64_t{m}, f[0].cold,  f[0].rotated, f[1].cold, f[1].rotated,
            f[2].cold,       f[2].rotated,    figures[0],      figures[1], figures[2],   figures[3]};
  }
  void print() const {
    std::cout << "\nGeometric means, cold / back to back (asked: " << asked_of_epilogues << "): over GemmEx "
              << shown(geometric_mean(ratios_[0])) << " / " << shown(geometric_mean(ratios_[1])) << ", over Lt "
              << shown(geometric_mean(ratios_[2])) << " / " << shown(geometric_mean(ratios_[3])) << std::endl;
  }

 private:
  std::vector<double> ratios_[4];
};

/// Gate and up as one matrix [2N, K] for cuBLAS, as its two halves for Invar.
template <class T>
void measure_gated(Bench& bench) {
  Table& table =
      bench.begin(Table("gated", "Gate and up, and silu·mul of both (c is [M, N]): microseconds, cold / back to back",
                        epilogue_columns("silu_mul")));
  EpilogueMeans ratios;
  bench.fill<T>();
  const Cuda& exec = bench.exec();
  for (const auto& [n, k] : {std::pair(12288, 4096), std::pair(14336, 4096), std::pair(2048, 7168)})
    for (int m = 1; m <= 64 && !bench.is_late(); m *= 2) {
      const std::int64_t half = std::int64_t{n} * k, size = 2 * half;
      const int copies = bench.copies<T>(size);
      const T* const w = bench.w<T>();
      const Rows<T> x = rows(bench.x<T>(), m, k), both = rows(bench.other_c<T>(), m, 2 * n),
                    c = rows(bench.c<T>(), m, n);
      const auto gate = Kokkos::subview(both, Kokkos::ALL, std::pair<std::size_t, std::size_t>(0, n));
      const auto up = Kokkos::subview(both, Kokkos::ALL, std::pair<std::size_t, std::size_t>(n, 2 * n));
      const Gemm gemm{m, 2 * n, k, true, cuda_type<T>(), cuda_type<T>()};
      LtPlan plan(bench.cublas, gemm);
      bench.keep_fastest(plan, x.data(), w, size * 2, both.data(), both.data(), copies);
      std::vector<std::pair<Weights<T>, Weights<T>>> views;
      for (int i = 0; i < copies; ++i)
        views.emplace_back(weights(w + i * size, n, k, true), weights(w + i * size + half, n, k, true));
      const std::vector<Call> calls{
          [&](int i) {
            bench.cublas.gemm_ex(gemm, x.data(), w + i * size, both.data());
            silu_mul(exec, c, gate, up);
          },
          [&](int i) {
            if (plan.empty())
              bench.cublas.gemm_ex(gemm, x.data(), w + i * size, both.data());
            else
              plan.run(x.data(), w + i * size, both.data(), both.data());
            silu_mul(exec, c, gate, up);
          },
          [&](int i) { matmul_silu_mul<Contract16>(exec, c, x, views[i].first, views[i].second); }};
      table.add(ratios.row(n, k, m, bench.turns.measure(calls, copies)));
      // The three separate operations have the same bits.
      matmul<Contract16>(exec, gate, x, views[0].first);
      matmul<Contract16>(exec, up, x, views[0].second);
      silu_mul(exec, gate, gate, up);
      const Rows<T> separate = rows(bench.other_c<T>() + std::int64_t{4} * m * n, m, n);
      Kokkos::deep_copy(exec, separate, gate);
      calls[2](0);
      bench.expect_none(differing(exec, c.data(), separate.data(), std::int64_t{m} * n),
                        "matmul_silu_mul differ from those of three separate operations");
    }
  table.markdown(std::cout);
  ratios.print();
}

/// c = residual + x·w.
template <class T>
void measure_residual(Bench& bench) {
  auto columns = epilogue_columns("an addition");
  columns.emplace_back("lt_beta_cold", "for comparison: Lt, beta = 1 (one rounding less)");
  columns.emplace_back("lt_beta_rotated", "/");
  Table& table =
      bench.begin(Table("residual", "Residual added to the product: microseconds, cold / back to back", columns));
  EpilogueMeans ratios;
  bench.fill<T>();
  const Cuda& exec = bench.exec();
  for (const auto& [n, k] : {std::pair(4096, 4096), std::pair(4096, 12288), std::pair(2048, 8192)})
    for (int m = 1; m <= 64 && !bench.is_late(); m *= 2) {
      const std::int64_t size = std::int64_t{n} * k, outputs = std::int64_t{m} * n;
      const int copies = bench.copies<T>(size);
      const T* const w = bench.w<T>();
      const Rows<T> x = rows(bench.x<T>(), m, k), c = rows(bench.c<T>(), m, n);
      const Rows<T> residual = rows(bench.x<T>() + (std::int64_t{1} << 23), m, n);
      Gemm gemm{m, n, k, true, cuda_type<T>(), cuda_type<T>()};
      LtPlan plan(bench.cublas, gemm);
      gemm.beta = 1;
      LtPlan fused(bench.cublas, gemm);
      gemm.beta = 0;
      for (LtPlan* const p : {&plan, &fused})
        bench.keep_fastest(*p, x.data(), w, size * 2, residual.data(), c.data(), copies);
      std::vector<Weights<T>> views;
      for (int i = 0; i < copies; ++i) views.push_back(weights(w + i * size, n, k, true));
      std::vector<Call> calls{
          [&](int i) {
            bench.cublas.gemm_ex(gemm, x.data(), w + i * size, c.data());
            add(exec, c.data(), residual.data(), outputs);
          },
          [&](int i) {
            if (plan.empty())
              bench.cublas.gemm_ex(gemm, x.data(), w + i * size, c.data());
            else
              plan.run(x.data(), w + i * size, c.data(), c.data());
            add(exec, c.data(), residual.data(), outputs);
          },
          [&](int i) { matmul<Contract16>(exec, c, x, views[i], epilogue().with_residual(residual)); }};
      if (!fused.empty()) calls.push_back([&](int i) { fused.run(x.data(), w + i * size, residual.data(), c.data()); });
      const std::vector<Figure> figures = bench.turns.measure(calls, copies);
      auto row = ratios.row(n, k, m, figures);
      const bool has_fused = !fused.empty();
      row.emplace_back(has_fused ? figures[3].cold : not_measured);
      row.emplace_back(has_fused ? figures[3].rotated : not_measured);
      table.add(std::move(row));
      const Rows<T> separate = rows(bench.other_c<T>(), m, n);
      matmul<Contract16>(exec, separate, x, views[0]);
      add(exec, separate.data(), residual.data(), outputs);
      calls[2](0);
      bench.expect_none(differing(exec, c.data(), separate.data(), outputs),
                        "a product with a residual differ from those of two separate operations");
    }
  table.markdown(std::cout);
  ratios.print();
}

}  // namespace invar::perf

#endif
