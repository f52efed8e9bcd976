// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Section "formats": tf32 into float and fp8 into bf16, weights [N, K], against cuBLAS.
#ifndef INVAR_PERF_CUDA_MATRIX_UNIT_FORMATS_HPP
#define INVAR_PERF_CUDA_MATRIX_UNIT_FORMATS_HPP

#include "matrix_unit_bench.hpp"

#include <invar/op/matmul.hpp>

#include <cstdint>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace invar::perf {

/// \tparam T, C  of the operands and the result
template <class Contract, class T, class C>
void measure_format(Bench& bench, const std::string& key, const std::string& title) {
  constexpr bool is_fp8 = sizeof(T) == 1;
  Table& table = bench.begin(Table(key, title + ", " + Contract::name() + ": microseconds, cold / back to back",
                                   {{"n", "N"},
                                    {"k", "K"},
                                    {"m", "M"},
                                    {"gemm_ex_cold", "GemmEx"},
                                    {"gemm_ex_rotated", "/"},
                                    {"lt_cold", "best of Lt"},
                                    {"lt_rotated", "/"},
                                    {"lt_fast_cold", is_fp8 ? "Lt, fast accumulation" : ""},
                                    {"lt_fast_rotated", is_fp8 ? "/" : ""},
                                    {"invar_cold", "Invar"},
                                    {"invar_rotated", "/"},
                                    {"lt_over_invar_cold", "Lt / Invar"},
                                    {"lt_over_invar_rotated", "/"},
                                    {"teraflops", "TFLOP/s, back to back"}}));
  bench.fill<T>();
  const Cuda& exec = bench.exec();
  for (const auto& [n, k] : {std::pair(4096, 4096), std::pair(2048, 8192)})
    for (const int m : {1, 16, 64, 256, 1024, 4096}) {
      if (m > bench.most_rows || bench.is_late()) continue;
      const std::int64_t size = std::int64_t{n} * k, bytes = size * static_cast<std::int64_t>(sizeof(T));
      const int copies = bench.copies<T>(size);
      const T* const w = bench.w<T>();
      const Rows<T> x = rows(bench.x<T>(), m, k);
      const Rows<C> c = rows(bench.c<C>(), m, n);
      Gemm gemm{
          m, n, k, true, cuda_type<T>(), cuda_type<C>(), is_fp8 ? CUBLAS_COMPUTE_32F : CUBLAS_COMPUTE_32F_FAST_TF32};
      LtPlan plan(bench.cublas, gemm);
      gemm.is_fast_fp8 = is_fp8;
      std::optional<LtPlan> fast;
      if (is_fp8) fast.emplace(bench.cublas, gemm);
      for (LtPlan* const p : {&plan, fast ? &*fast : nullptr})
        if (p != nullptr) bench.keep_fastest(*p, x.data(), w, bytes, c.data(), c.data(), copies);
      std::vector<Weights<T>> views;
      for (int i = 0; i < copies; ++i) views.push_back(weights(w + i * size, n, k, true));
      std::vector<Call> calls{[&](int i) { matmul<Contract>(exec, c, x, views[i]); }};
      int with_gemm_ex = 0, with_lt = 0, with_fast = 0;  // where each is among the calls
      const auto contend = [&](int& at, Call call) {
        at = static_cast<int>(calls.size());
        calls.push_back(std::move(call));
      };
      if (!is_fp8) contend(with_gemm_ex, [&](int i) { bench.cublas.gemm_ex(gemm, x.data(), w + i * size, c.data()); });
      if (!plan.empty()) contend(with_lt, [&](int i) { plan.run(x.data(), w + i * size, c.data(), c.data()); });
      if (fast && !fast->empty())
        contend(with_fast, [&](int i) { fast->run(x.data(), w + i * size, c.data(), c.data()); });
      const std::vector<Figure> figures = bench.turns.measure(calls, copies);
      const auto of = [&](int at) { return at == 0 ? Figure{not_measured, not_measured} : figures[at]; };
      const Figure own = figures[0], ex = of(with_gemm_ex), lt = of(with_lt), lt_fast = of(with_fast);
      table.add({std::int64_t{n}, std::int64_t{k}, std::int64_t{m}, ex.cold, ex.rotated, lt.cold, lt.rotated,
                 lt_fast.cold, lt_fast.rotated, own.cold, own.rotated, lt.cold / own.cold, lt.rotated / own.rotated,
                 2e-6 * m * n * k / own.rotated});
      if (own.cold > 2e4) break;  // through the software model: larger batches would take minutes
    }
  table.markdown(std::cout);
}

}  // namespace invar::perf

#endif
