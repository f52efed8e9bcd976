// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// c [M, N] = a [M, K] · wᵀ with weights w [N, K], as the linear layers of a model have it: in float, and with bfloat16
// inputs and float outputs. "in place" takes w as it is, "packed" what was made of it before anything is timed.
//
// Inputs and outputs are small and stay where the caches keep them. Weights are read from one of several copies in
// turn, 256 MiB in all: a model has many matrices, and none is still in the cache when it is needed again.
#include "../support/contest.hpp"
#include "memory.hpp"
#include "onednn.hpp"
#include "openblas.hpp"

#include <invar/op/matmul.hpp>
#include <invar/packed_matrix.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

namespace {

using namespace invar;
using namespace invar::perf;

/// Copies of the weights of one shape, each in all forms that the contenders take.
template <class T>
struct Weights {
  Weights(std::int64_t n, std::int64_t k, std::int64_t copies, std::uint64_t seed) : all("w", copies * n, k) {
    fill(all, seed);
    for (std::int64_t i = 0; i < copies; ++i) {
      rows.push_back(Kokkos::subview(all, std::pair(i * n, (i + 1) * n), Kokkos::ALL));
      memory.push_back(rows.back().data());
      packed.push_back(pack(Exec(), transposed(rows.back())));
    }
    Kokkos::fence();
  }
  Matrix<T> all;
  std::vector<Matrix<T>> rows;
  std::vector<const void*> memory;
  std::vector<PackedMatrix<T>> packed;
};

template <class T>
void add_invar(std::vector<Contender>& contenders, const char* in_place, const char* packed, const Matrix<float>& c,
               const Matrix<T>& a, const Weights<T>& w, double tolerance) {
  const Exec exec;
  const auto result = [c] { return sample(c); };
  contenders.push_back({in_place, Role::invar,
                        [=, &w](std::int64_t turn) {
                          matmul(exec, c, a, transposed(w.rows[static_cast<std::size_t>(turn) % w.rows.size()]));
                          exec.fence();
                        },
                        result, tolerance});
  contenders.push_back({packed, Role::invar,
                        [=, &w](std::int64_t turn) {
                          matmul(exec, c, a, w.packed[static_cast<std::size_t>(turn) % w.packed.size()]);
                          exec.fence();
                        },
                        result, tolerance});
}

struct Shape {
  std::int64_t n, k;
};

Case describe(std::int64_t m, Shape shape) {
  const double product = static_cast<double>(shape.n) * static_cast<double>(shape.k);
  return {"matmul", {{"N", shape.n}, {"K", shape.k}, {"M", m}}, 4 * product, 2 * product * static_cast<double>(m)};
}

void measure(Contests& contests, const std::vector<std::int64_t>& ms, Shape shape) {
  const auto [n, k] = shape;
  const std::int64_t bytes = n * k * 4,
                     copies = std::max<std::int64_t>(2, ((std::int64_t{256} << 20) + bytes - 1) / bytes);
  const Weights<float> w(n, k, copies, 1);
  const Weights<bfloat16_t> w16(n, k, copies, 1);  // the same numbers, rounded
  for (const std::int64_t m : ms) {
    const Exec exec;
    const Matrix<float> a("a", m, k), c("c", m, n);
    const Matrix<bfloat16_t> a16("a16", m, k);
    fill(a, 2);
    fill(a16, 2);
    std::vector<Contender> contenders;
    const auto result = [c] { return sample(c); };
    constexpr double rounded = 1e-2;  // inputs of 8 bits
    // Copies hold different numbers, so the results to be compared are those of the first.
    add_invar(contenders, "Invar f32", "Invar f32 packed", c, a, w, 1e-5);
    add_invar(contenders, "Invar bf16", "Invar bf16 packed", c, a16, w16, rounded);
#ifdef INVAR_PERF_OPENBLAS
    contenders.push_back({"OpenBLAS sgemm", Role::peer,
                          [=, &w](std::int64_t turn) {
                            openblas_sgemm(c.data(), a.data(),
                                           w.rows[static_cast<std::size_t>(turn) % w.rows.size()].data(), m, n, k);
                          },
                          result, 1e-5});
    if (m == 1)
      contenders.push_back({"OpenBLAS sgemv", Role::peer,
                            [=, &w](std::int64_t turn) {
                              openblas_sgemv(c.data(), a.data(),
                                             w.rows[static_cast<std::size_t>(turn) % w.rows.size()].data(), n, k);
                            },
                            result, 1e-5});
#endif
#ifdef INVAR_PERF_ONEDNN
    using Type = OnednnMatmul::Type;
    std::deque<OnednnMatmul> products;  // stay where they are
    const auto add_onednn = [&](const char* name, Type type, const void* source,
                                const std::vector<const void*>& weights, bool prepack, double tolerance) {
      OnednnMatmul& product = products.emplace_back(type, c.data(), source, weights, m, n, k, prepack);
      contenders.push_back({name, Role::peer, [&product](std::int64_t turn) { product(turn); }, result, tolerance});
    };
    add_onednn("oneDNN f32", Type::f32, a.data(), w.memory, false, 1e-5);
    add_onednn("oneDNN f32 packed", Type::f32, a.data(), w.memory, true, 1e-5);
    add_onednn("oneDNN bf16", Type::bf16, a16.data(), w16.memory, false, rounded);
    add_onednn("oneDNN bf16 packed", Type::bf16, a16.data(), w16.memory, true, rounded);
#endif
    if (m <= 16) {
      const float* const all = w.all.data();
      contenders.push_back({"read loop f32", Role::limit,
                            [=](std::int64_t turn) { read_loop(exec, all + turn % copies * n * k, bytes); }});
    }
    contests.run(describe(m, shape), contenders);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos;
  Contests contests(argc, argv);
#ifdef INVAR_PERF_OPENBLAS
  contests.note("OpenBLAS", openblas_version());
#else
  contests.skip("OpenBLAS", "CMake found no OpenBLAS (Debian: libopenblas-openmp-dev)");
#endif
#ifdef INVAR_PERF_ONEDNN
  contests.note("oneDNN", onednn_version());
#else
  contests.skip("oneDNN", "CMake found no oneDNN (Debian: libdnnl-dev)");
#endif
  const std::vector<std::int64_t> all{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}, few{1, 4, 16, 64, 256};
  const std::vector<Shape> shapes{{1536, 576}, {576, 1536}, {4096, 4096}, {11008, 4096}};
  std::vector<std::vector<std::int64_t>> wanted;
  for (const Shape shape : shapes) {
    wanted.emplace_back();
    for (const std::int64_t m : contests.quick() ? few : all)
      if (contests.announce(describe(m, shape))) wanted.back().push_back(m);
  }
  for (std::size_t i = 0; i < shapes.size(); ++i)
    if (!wanted[i].empty()) measure(contests, wanted[i], shapes[i]);
  return contests.finish();
}
