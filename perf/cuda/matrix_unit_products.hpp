// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Section "products": matmul of 16-bit types by the library's own choice of schedule, against cuBLAS.
#ifndef INVAR_PERF_CUDA_MATRIX_UNIT_PRODUCTS_HPP
#define INVAR_PERF_CUDA_MATRIX_UNIT_PRODUCTS_HPP

#include "matrix_unit_bench.hpp"

#include <invar/op/matmul.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

namespace invar::perf {

using Contract16 = contract::Matmul<hopper_16bit, 2048>;

struct Shape {
  int n, k;
  bool is_wide;
};
inline constexpr Shape shapes[] = {{6144, 4096, true},  {4096, 4096, true}, {24576, 4096, true}, {4096, 12288, true},
                                   {1024, 4096, false}, {768, 7168, false}, {2048, 8192, false}};

/// What is asked for a range of M, as cuBLAS' time over Invar's.
struct Asked {
  const char* range;
  int first, last;
  double each_wide, wide, narrow, aim;
};
inline constexpr Asked asked[] = {{"1…64", 1, 64, 0.95, 1.02, 1.00, 1.10},
                                  {"128", 128, 128, 0.90, 0.95, 0.88, 1.00},
                                  {"256…1024", 256, 1024, 0.93, 0.99, 0.97, 1.05},
                                  {"2048…8192", 2048, 8192, 0.96, 0.98, 0.95, 1.02}};

struct Product {
  int m;
  Shape shape;
  Figure gemm_ex, lt, own;
  Figure constant;  ///< Invar again, where it is told that the weights are constant; up to 128 rows
};

/// The means per range of M against one peer, beside what is asked.
inline Table means(const std::vector<Product>& products, const std::string& key, const std::string& peer,
                   Figure Product::*figure, Figure Product::*own) {
  Table table("means_" + key, peer + ": means and what is asked",
              {{"m", "M"},
               {"wide_least_cold", "wide: least, cold"},
               {"wide_least_rotated", "least, back to back"},
               {"wide_least_asked", "asked"},
               {"wide_mean_cold", "wide: mean, cold"},
               {"wide_mean_rotated", "mean, back to back"},
               {"wide_mean_asked", "asked"},
               {"narrow_mean_cold", "narrow: mean, cold"},
               {"narrow_mean_rotated", "mean, back to back"},
               {"narrow_mean_asked", "asked, cold"},
               {"aim", "aim"},
               {"short_of", "short of what is asked"}});
  for (const Asked& range : asked) {
    std::vector<double> ratios[2][2];  // [narrow][rotated]
    for (const Product& p : products) {
      if (p.m < range.first || p.m > range.last || std::isnan((p.*figure).cold / (p.*own).cold)) continue;
      ratios[!p.shape.is_wide][0].push_back((p.*figure).cold / (p.*own).cold);
      ratios[!p.shape.is_wide][1].push_back((p.*figure).rotated / (p.*own).rotated);
    }
    if (ratios[0][0].empty() || ratios[1][0].empty()) continue;
    const auto least = [](const std::vector<double>& values) {
      return *std::min_element(values.begin(), values.end());
    };
    std::string missing;
    const auto reached = [&](double value, double target, const char* what) {
      if (value < target) missing += (missing.empty() ? "" : ", ") + std::string(what);
      return value;
    };
    std::vector<Cell> row{std::string(range.range)};
    for (const double figures : {reached(least(ratios[0][0]), range.each_wide, "each wide, cold"),
                                 reached(least(ratios[0][1]), range.each_wide, "each wide, back to back"),
                                 range.each_wide, reached(geometric_mean(ratios[0][0]), range.wide, "wide mean, cold"),
                                 reached(geometric_mean(ratios[0][1]), range.wide, "wide mean, back to back"),
                                 range.wide, reached(geometric_mean(ratios[1][0]), range.narrow, "narrow mean"),
                                 geometric_mean(ratios[1][1]), range.narrow, range.aim})
      row.emplace_back(figures);
    row.emplace_back(missing.empty() ? std::string("–") : missing);
    table.add(std::move(row));
  }
  return table;
}

template <class T>
Product measure_product(Bench& bench, const Shape& shape, int m) {
  const int n = shape.n, k = shape.k;
  const std::int64_t size = std::int64_t{n} * k;
  const int copies = bench.copies<T>(size);
  const T* const w = bench.w<T>();
  const Rows<T> x = rows(bench.x<T>(), m, k), c = rows(bench.c<T>(), m, n);
  const Cuda& exec = bench.exec();
  const Gemm gemm{m, n, k, bench.by_rows, cuda_type<T>(), cuda_type<T>()};
  LtPlan plan(bench.cublas, gemm);
  bench.keep_fastest(plan, x.data(), w, size * 2, c.data(), c.data(), copies);
  std::vector<Weights<T>> views;
  for (int i = 0; i < copies; ++i) views.push_back(weights(w + i * size, n, k, bench.by_rows));
  std::vector<Call> calls;
  const auto contend = [&](Figure Product::*figure, Call call) {
    calls.push_back(std::move(call));
    return figure;
  };
  std::vector<Figure Product::*> places{
      contend(&Product::gemm_ex, [&](int i) { bench.cublas.gemm_ex(gemm, x.data(), w + i * size, c.data()); }),
      contend(&Product::own, [&](int i) { matmul<Contract16>(exec, c, x, views[i]); })};
  if (!plan.empty())
    places.push_back(contend(&Product::lt, [&](int i) { plan.run(x.data(), w + i * size, c.data(), c.data()); }));
  if (m <= 128)
    places.push_back(
        contend(&Product::constant, [&](int i) { matmul<Contract16>(exec, c, x, invar::constant(views[i])); }));
  const std::vector<Figure> figures = bench.turns.measure(calls, copies);
  constexpr Figure none{not_measured, not_measured};
  Product product{m, shape, none, none, none, none};
  for (std::size_t i = 0; i < figures.size(); ++i) product.*places[i] = figures[i];
  return product;
}

template <class T>
void measure_products(Bench& bench) {
  bench.fill<T>();
  const Cuda& exec = bench.exec();
  Table& table = bench.begin(Table("products",
                                   std::string("Products of ") + (std::is_same_v<T, float16_t> ? "fp16" : "bf16") +
                                       ", weights " + (bench.by_rows ? "[N, K]" : "[K, N]") + ", " +
                                       Contract16::name() + ": microseconds, cold / back to back",
                                   {{"n", "N"},
                                    {"k", "K"},
                                    {"m", "M"},
                                    {"schedule", "schedule"},
                                    {"gemm_ex_cold", "GemmEx"},
                                    {"gemm_ex_rotated", "/"},
                                    {"lt_cold", "best of Lt"},
                                    {"lt_rotated", "/"},
                                    {"invar_cold", "Invar"},
                                    {"invar_rotated", "/"},
                                    {"gemm_ex_over_invar_cold", "GemmEx / Invar"},
                                    {"gemm_ex_over_invar_rotated", "/"},
                                    {"lt_over_invar_cold", "Lt / Invar"},
                                    {"lt_over_invar_rotated", "/"},
                                    {"constant_cold", "Invar, constant(w)"},
                                    {"constant_rotated", "/"}}));
  std::vector<Product> products;
  float apart = 0;
  std::int64_t compared = 0;
  for (const Shape& shape : shapes) {
    // The rows of a small batch are the first of the largest one, and shall have its bits.
    const Weights<T> w = weights<T>(bench.w<T>(), shape.n, shape.k, bench.by_rows);
    const T* const all = bench.other_c<T>();
    matmul<Contract16>(exec, rows(bench.other_c<T>(), bench.most_rows, shape.n),
                       rows(bench.x<T>(), bench.most_rows, shape.k), w);
    for (int m = 1; m <= bench.most_rows && !bench.is_late(); m *= 2) {
      const Product p = measure_product<T>(bench, shape, m);
      products.push_back(p);
      table.add({std::int64_t{shape.n}, std::int64_t{shape.k}, std::int64_t{m},
                 schedule_name<Contract16>(exec, m, shape.n, shape.k, bench.by_rows), p.gemm_ex.cold, p.gemm_ex.rotated,
                 p.lt.cold, p.lt.rotated, p.own.cold, p.own.rotated, p.gemm_ex.cold / p.own.cold,
                 p.gemm_ex.rotated / p.own.rotated, p.lt.cold / p.own.cold, p.lt.rotated / p.own.rotated,
                 p.constant.cold, p.constant.rotated});
      const std::int64_t count = std::int64_t{m} * shape.n;
      Kokkos::deep_copy(exec, rows(bench.c<T>(), m, shape.n), T(0.0f));
      matmul<Contract16>(exec, rows(bench.c<T>(), m, shape.n), rows(bench.x<T>(), m, shape.k), w);
      bench.expect_none(differing(exec, bench.c<T>(), all, count), "a small batch differ from those of a large one");
      compared += count;
      if (m <= 1024) {
        bench.cublas.gemm_ex({m, shape.n, shape.k, bench.by_rows, cuda_type<T>(), cuda_type<T>()}, bench.x<T>(),
                             bench.w<T>(), bench.c<T>());
        apart = std::max(apart, farthest(exec, bench.c<T>(), all, count));
      }
    }
  }
  table.markdown(std::cout);
  std::cout << "\n"
            << compared << " outputs compared with those of the same rows in a batch of " << bench.most_rows
            << ". The farthest from cuBLAS is " << apart << " apart.\n";
  const auto summary = [&](const char* key, const char* title, Figure Product::*peer, Figure Product::*own) {
    bench.begin(means(products, key, title, peer, own)).markdown(std::cout);
  };
  summary("gemm_ex", "cublasGemmEx / Invar", &Product::gemm_ex, &Product::own);
  summary("lt", "The best of cublasLt / Invar", &Product::lt, &Product::own);
  summary("gemm_ex_constant", "cublasGemmEx / Invar with constant weights", &Product::gemm_ex, &Product::constant);
  summary("lt_constant", "The best of cublasLt / Invar with constant weights", &Product::lt, &Product::constant);
}

}  // namespace invar::perf

#endif
