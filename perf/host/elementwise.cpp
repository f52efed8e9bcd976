// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations on each element by itself, against loops over the standard library's functions, and against a loop that
// copies as many bytes.
#include "../support/contest.hpp"
#include "memory.hpp"

#include <invar/op/rope.hpp>
#include <invar/op/silu_mul.hpp>

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdint>
#include <vector>

namespace {

using namespace invar;
using namespace invar::perf;
using Range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;

/// For each row, with all its columns; on all threads.
template <class Work>
void for_rows(const Exec& exec, std::int64_t rows, const Work& work) {
  Kokkos::parallel_for("peer", Range(exec, 0, rows), work);
  exec.fence();
}

Contender copy_limit(float* to, const float* from, std::int64_t bytes) {
  const Exec exec;
  return {"copy loop", Role::limit, [=](std::int64_t) { copy_loop(exec, to, from, bytes / 2 / 512 * 512); }};
}

Case describe_silu(std::int64_t rows, std::int64_t columns) {
  return {"silu_mul f32", {{"columns", columns}, {"rows", rows}}, 12.0 * static_cast<double>(rows * columns), 0};
}
void measure_silu(Contests& contests, std::int64_t rows, std::int64_t columns) {
  const Exec exec;
  const Matrix<float> gate("gate", rows, columns), up("up", rows, columns), y("y", rows, columns);
  fill(gate, 1);
  fill(up, 2);
  // The copy moves 12 bytes an element too: 6 are read and 6 written.
  const Vector<float> from("from", rows * columns * 2), to("to", rows * columns * 2);
  fill(from, 1);
  fill(to, 1);
  const auto result = [y] { return sample(y); };
  contests.run(describe_silu(rows, columns), {{"Invar", Role::invar,
                                               [=](std::int64_t) {
                                                 silu_mul(exec, y, gate, up);
                                                 exec.fence();
                                               },
                                               result},
                                              {"loop over std::exp", Role::peer,
                                               [=](std::int64_t) {
                                                 for_rows(exec, rows, [=](std::int64_t i) {
                                                   for (std::int64_t j = 0; j < columns; ++j)
                                                     y(i, j) = gate(i, j) / (1.0f + std::exp(-gate(i, j))) * up(i, j);
                                                 });
                                               },
                                               result},
                                              copy_limit(to.data(), from.data(), 12 * rows * columns)});
}

Case describe_rope(std::int64_t tokens, std::int64_t heads, std::int64_t dim) {
  return {"rope f32",
          {{"heads", heads}, {"dim", dim}, {"tokens", tokens}},
          8.0 * static_cast<double>(tokens * heads * dim),
          0};
}
void measure_rope(Contests& contests, std::int64_t tokens, std::int64_t heads, std::int64_t dim) {
  const Exec exec;
  const Kokkos::View<float***, Kokkos::LayoutRight, Exec> x("x", tokens, heads, dim), y("y", tokens, heads, dim);
  const Vector<int> positions("positions", tokens);
  const Vector<float> frequencies("frequencies", dim / 2);
  fill(x, 1);
  for (std::int64_t t = 0; t < tokens; ++t) positions(t) = static_cast<int>(t * 7 % 2048);
  for (std::int64_t i = 0; i < dim / 2; ++i)
    frequencies(i) = static_cast<float>(std::pow(10000.0, -2.0 * static_cast<double>(i) / static_cast<double>(dim)));
  const auto result = [y] { return sample(y); };
  contests.run(describe_rope(tokens, heads, dim),
               {{"Invar", Role::invar,
                 [=](std::int64_t) {
                   rope(exec, y, x, positions, frequencies, RopePairs::halves);
                   exec.fence();
                 },
                 result},
                {"loop over std::sin, std::cos", Role::peer,
                 [=](std::int64_t) {
                   for_rows(exec, tokens, [=](std::int64_t t) {
                     float sine[128], cosine[128];
                     for (std::int64_t i = 0; i < dim / 2; ++i) {
                       sine[i] = std::sin(static_cast<float>(positions(t)) * frequencies(i));
                       cosine[i] = std::cos(static_cast<float>(positions(t)) * frequencies(i));
                     }
                     for (std::int64_t h = 0; h < heads; ++h)
                       for (std::int64_t i = 0; i < dim / 2; ++i) {
                         const float low = x(t, h, i), high = x(t, h, i + dim / 2);
                         y(t, h, i) = low * cosine[i] - high * sine[i];
                         y(t, h, i + dim / 2) = high * cosine[i] + low * sine[i];
                       }
                   });
                 },
                 result},
                copy_limit(y.data(), x.data(), 8 * tokens * heads * dim)});
}

}  // namespace

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos;
  Contests contests(argc, argv);
  const std::vector<std::int64_t> all{1, 8, 64, 512, 4096}, few{1, 64, 4096};
  std::vector<std::int64_t> silu, ropes;
  for (const std::int64_t rows : contests.quick() ? few : all) {
    if (contests.announce(describe_silu(rows, 1536))) silu.push_back(rows);
    if (contests.announce(describe_rope(rows, 9, 64))) ropes.push_back(rows);
  }
  for (const std::int64_t rows : silu) measure_silu(contests, rows, 1536);
  for (const std::int64_t tokens : ropes) measure_rope(contests, tokens, 9, 64);
  return contests.finish();
}
