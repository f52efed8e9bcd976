// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations and functions on each element by itself, against loops over the standard library's functions, and against
// a loop that copies as many bytes.
#include "../support/contest.hpp"
#include "memory.hpp"

#include <invar/backends/host/columns.hpp>
#include <invar/op/rope.hpp>
#include <invar/op/silu_mul.hpp>

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

// glibc's vectors of elementary functions, 4 ulp; g++ itself calls them under -ffast-math only.
#if defined(__GLIBC__) && defined(__AVX512F__)
#define INVAR_PERF_LIBMVEC
using LibmvecVector = __m512;
extern "C" {
LibmvecVector _ZGVeN16v_expf(LibmvecVector);
LibmvecVector _ZGVeN16v_sinf(LibmvecVector);
LibmvecVector _ZGVeN16v_cosf(LibmvecVector);
}
#endif

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

Case describe_function(const char* name, std::int64_t n) {
  return {std::string(name) + " f32", {{"n", n}}, 8.0 * static_cast<double>(n), 0};
}
/// A function of num/ and its namesakes in other libraries.
template <class Invar, class Standard, class Libmvec>
void measure_function(Contests& contests, const char* name, std::int64_t n, const Invar& invar,
                      const Standard& standard, [[maybe_unused]] const Libmvec& libmvec) {
  const Exec exec;
  const Vector<float> x("x", n), y("y", n);
  fill(x, 1);
  Kokkos::parallel_for("scale", Range(exec, 0, n), [=](std::int64_t i) { x(i) *= 8; });
  const Matrix<float> rows_x(x.data(), 1, n), rows_y(y.data(), 1, n);
  const auto result = [y] { return sample(y); };
  std::vector<Contender> contenders{{"Invar", Role::invar,
                                     [=](std::int64_t) {
                                       in_parts(exec, n, [=](std::int64_t begin, std::int64_t end) {
                                         backends::host::map_columns(0, begin, end, false, invar, tree::Output{rows_y},
                                                                     tree::Elements{rows_x});
                                       });
                                     },
                                     result},
                                    {std::string("loop over std::") + name, Role::peer,
                                     [=](std::int64_t) {
                                       in_parts(exec, n, [=](std::int64_t begin, std::int64_t end) {
                                         for (std::int64_t i = begin; i < end; ++i) y(i) = standard(x(i));
                                       });
                                     },
                                     result}};
#ifdef INVAR_PERF_LIBMVEC
  contenders.push_back({"libmvec", Role::peer,
                        [=](std::int64_t) {
                          in_parts(exec, n, [=](std::int64_t begin, std::int64_t end) {
                            for (std::int64_t i = begin; i < end; i += 16)
                              _mm512_storeu_ps(&y(i), libmvec(_mm512_loadu_ps(&x(i))));
                          });
                        },
                        result});
#endif
  contenders.push_back(copy_limit(y.data(), x.data(), 8 * n));
  contests.run(describe_function(name, n), contenders);
}
void measure_functions(Contests& contests, std::int64_t n) {
#ifdef INVAR_PERF_LIBMVEC
  const auto exp = _ZGVeN16v_expf, sin = _ZGVeN16v_sinf, cos = _ZGVeN16v_cosf;
#else
  const int exp = 0, sin = 0, cos = 0;
#endif
  measure_function(
      contests, "exp", n, [](auto v) { return num::exp(v); }, [](float v) { return std::exp(v); }, exp);
  measure_function(
      contests, "sin", n, [](auto v) { return num::sin(v); }, [](float v) { return std::sin(v); }, sin);
  measure_function(
      contests, "cos", n, [](auto v) { return num::cos(v); }, [](float v) { return std::cos(v); }, cos);
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
  // In the second-level cache, and beyond it.
  std::vector<std::int64_t> lengths;
  for (const std::int64_t n : {std::int64_t{1} << 14, std::int64_t{1} << 22})
    if ((!contests.quick() || n == 1 << 14) && contests.announce(describe_function("exp", n)) +
                                                       contests.announce(describe_function("sin", n)) +
                                                       contests.announce(describe_function("cos", n)) >
                                                   0)
      lengths.push_back(n);
  for (const std::int64_t n : lengths) measure_functions(contests, n);
  for (const std::int64_t rows : silu) measure_silu(contests, rows, 1536);
  for (const std::int64_t tokens : ropes) measure_rope(contests, tokens, 9, 64);
  return contests.finish();
}
