// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Accuracy, a matter apart from bits: each operation's formula in double, with none of Invar's code, against the float
// kernel. The bounds are a few times what was seen; a wrong formula is off by orders of magnitude.
#include "support/environment.hpp"

#include <invar/invar.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

namespace {

using Exec = invar::test::Execution;
using invar::test::Memory;
using Matrix = Kokkos::View<float**, Kokkos::LayoutRight, Memory>;
using Vector = Kokkos::View<float*, Memory>;
using Row = std::vector<double>;

constexpr int rows = 3;
constexpr int columns = 5000;

/// Rows of mixed sizes, away from zero mean so that a forgotten shift shows.
Matrix data(std::uint64_t seed) {
  const Matrix x("x", rows, columns);
  invar::verify::fill_random(x, seed);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) x(i, j) = 3.0f * x(i, j) + 0.25f * static_cast<float>(i);
  return x;
}

Row row_of(const Matrix& x, int i) {
  Row row(columns);
  for (int j = 0; j < columns; ++j) row[j] = static_cast<double>(x(i, j));
  return row;
}

double sum(const Row& x) { return std::accumulate(x.begin(), x.end(), 0.0); }
double dot(const Row& x, const Row& y) { return std::inner_product(x.begin(), x.end(), y.begin(), 0.0); }
double norm1(const Row& x) {
  double total = 0;
  for (const double v : x) total += std::abs(v);
  return total;
}
double logsumexp(const Row& x) {
  const double m = *std::max_element(x.begin(), x.end());
  double total = 0;
  for (const double v : x) total += std::exp(v - m);
  return m + std::log(total);
}

/// The result's distance from the truth in units of `scale`.
double error(double truth, float found, double scale) { return std::abs(truth - static_cast<double>(found)) / scale; }

}  // namespace

TEST_CASE("reductions") {
  const Exec exec;
  const Matrix x = data(1), y = data(2);
  const Vector r("r", rows);
  const auto run = [&](const char* name, const auto& call, const std::function<double(const Row&, const Row&)>& truth,
                       const std::function<double(const Row&, const Row&)>& scale, double bound) {
    call();
    exec.fence();
    for (int i = 0; i < rows; ++i) {
      const Row a = row_of(x, i), b = row_of(y, i);
      CAPTURE(std::string(name));
      CHECK(error(truth(a, b), r(i), scale(a, b)) < bound);
    }
  };
  const auto absolute = [](const Row& a, const Row&) { return norm1(a); };
  run(
      "sum", [&] { invar::sum(exec, r, x); }, [](const Row& a, const Row&) { return sum(a); }, absolute, 2e-7);
  run(
      "mean", [&] { invar::mean(exec, r, x); }, [](const Row& a, const Row&) { return sum(a) / columns; },
      [](const Row& a, const Row&) { return norm1(a) / columns; }, 2e-7);
  run(
      "dot", [&] { invar::dot(exec, r, x, y); }, dot,
      [](const Row& a, const Row& b) { return std::sqrt(dot(a, a) * dot(b, b)); }, 2e-7);
  run(
      "norm2", [&] { invar::norm2(exec, r, x); }, [](const Row& a, const Row&) { return std::sqrt(dot(a, a)); },
      [](const Row& a, const Row&) { return std::sqrt(dot(a, a)); }, 2e-7);
  run(
      "logsumexp", [&] { invar::logsumexp(exec, r, x); }, [](const Row& a, const Row&) { return logsumexp(a); },
      [](const Row& a, const Row&) { return std::abs(logsumexp(a)); }, 3e-7);
}

TEST_CASE("normalisations and softmax") {
  const Exec exec;
  const Matrix x = data(3), y("y", rows, columns);
  const Vector weight("weight", columns), bias("bias", columns);
  invar::verify::fill_random(weight, 4);
  invar::verify::fill_random(bias, 5);
  const double eps = static_cast<double>(1e-5f);
  const auto check = [&](const char* name, const std::function<double(const Row&, int)>& truth, double bound) {
    exec.fence();
    double worst = 0;
    for (int i = 0; i < rows; ++i) {
      const Row a = row_of(x, i);
      for (int j = 0; j < columns; j += 7) worst = std::max(worst, error(truth(a, j), y(i, j), std::abs(truth(a, j))));
    }
    CAPTURE(std::string(name));
    CHECK(worst < bound);
  };
  invar::rms_norm(exec, y, x, weight, 1e-5f);
  check(
      "rms_norm",
      [&](const Row& a, int j) { return a[j] / std::sqrt(dot(a, a) / columns + eps) * static_cast<double>(weight(j)); },
      5e-7);
  invar::softmax(exec, y, x);
  check(
      "softmax", [&](const Row& a, int j) { return std::exp(a[j] - logsumexp(a)); }, 1e-6);
  invar::log_softmax(exec, y, x);
  check(
      "log_softmax", [&](const Row& a, int j) { return a[j] - logsumexp(a); }, 5e-7);

  invar::layer_norm(exec, y, x, weight, bias, 1e-5f);
  exec.fence();
  for (int i = 0; i < rows; ++i) {
    const Row a = row_of(x, i);
    const double mean = sum(a) / columns;
    double variance = 0;
    for (const double v : a) variance += (v - mean) * (v - mean) / columns;
    double worst = 0;  // the sum with the bias may cancel, so the error is absolute; results are of order 1
    for (int j = 0; j < columns; ++j)
      worst = std::max(worst, error((a[j] - mean) / std::sqrt(variance + eps) * static_cast<double>(weight(j)) +
                                        static_cast<double>(bias(j)),
                                    y(i, j), 1.0));
    CHECK(worst < 1e-6);
  }
}

TEST_CASE("matmul") {
  const Exec exec;
  const Matrix a("a", 4, 3000), b("b", 3000, 5), c("c", 4, 5);
  const Vector bias("bias", 5);
  invar::verify::fill_random(a, 6);
  invar::verify::fill_random(b, 7);
  invar::verify::fill_random(bias, 8);
  invar::matmul(exec, c, a, b, bias);
  exec.fence();
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 5; ++j) {
      double truth = static_cast<double>(bias(j)), scale = 0;
      for (int k = 0; k < 3000; ++k) {
        const double product = static_cast<double>(a(i, k)) * static_cast<double>(b(k, j));
        truth += product;
        scale += std::abs(product);
      }
      CHECK(error(truth, c(i, j), scale) < 2e-7);
    }
}

namespace {

/// The largest error of a product of positive numbers over the sum of the products: a matrix unit's cuts all add up.
template <class Contract, class T>
double positive_error(int depth) {
  const Kokkos::View<T**, Memory> a("a", 4, depth), b("b", depth, 16);
  const Matrix c("c", 4, 16);
  invar::verify::fill_random(a, 12);
  invar::verify::fill_random(b, 13);
  for (int k = 0; k < depth; ++k) {
    for (int i = 0; i < 4; ++i) a(i, k) = T(std::abs(static_cast<float>(a(i, k))));
    for (int j = 0; j < 16; ++j) b(k, j) = T(std::abs(static_cast<float>(b(k, j))));
  }
  invar::matmul<Contract>(Exec(), c, a, b);
  Kokkos::fence("the result is read");
  double worst = 0;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 16; ++j) {
      double truth = 0;
      for (int k = 0; k < depth; ++k)
        truth += static_cast<double>(static_cast<float>(a(i, k))) * static_cast<double>(static_cast<float>(b(k, j)));
      worst = std::max(worst, error(truth, c(i, j), truth));
    }
  return worst;
}

}  // namespace

TEST_CASE("matmul by matrix units: the leaf bounds what the cuts add up to") {
  using namespace invar::contract;
  using invar::hopper_16bit;
  using T = invar::bfloat16_t;
  const double chain = positive_error<SingleChainMatmul<hopper_16bit>, T>(12288);
  const double leaves = positive_error<Matmul<hopper_16bit>, T>(12288);
  CHECK(chain < 1.5e-4);
  CHECK(leaves < 2e-5);
  CHECK(chain > 4 * leaves);
  CHECK(positive_error<Matmul<hopper_16bit>, T>(4096) < 2e-5);
  CHECK(positive_error<MatmulTo<hopper_16bit, float>, T>(12288) < 4e-6);
  CHECK(positive_error<MatmulTo<hopper_16bit, float>, invar::float16_t>(12288) < 6e-6);
  CHECK(positive_error<Matmul<invar::hopper_fp8>, invar::float8_e4m3_t>(12288) < 2e-3);
}

TEST_CASE("attention") {
  const Exec exec;
  constexpr int length = 2500, queries = 3, heads = 4, kv_heads = 2, dim = 24;
  const Kokkos::View<float***, Memory> q("q", queries, heads, dim), out("out", queries, heads, dim);
  const Kokkos::View<float****, Memory> k("k", 1, length, kv_heads, dim), v("v", 1, length, kv_heads, dim);
  const Kokkos::View<int*, Memory> begin("begin", 2), lengths("lengths", 1);
  begin(1) = queries;
  lengths(0) = length;
  invar::verify::fill_random(q, 9);
  invar::verify::fill_random(k, 10);
  invar::verify::fill_random(v, 11);
  for (const bool causal : {true, false}) {
    invar::attention(exec, out, q, invar::ContiguousKv{k, v}, begin, lengths, {2.0f, causal});
    exec.fence();
    double worst = 0;
    for (int t = 0; t < queries; ++t)
      for (int h = 0; h < heads; ++h) {
        const int visible = causal ? length - queries + t + 1 : length;
        Row score(visible, 0.0);
        for (int p = 0; p < visible; ++p)
          for (int d = 0; d < dim; ++d)
            score[p] += 2.0 * static_cast<double>(q(t, h, d)) * static_cast<double>(k(0, p, h / 2, d));
        const double total = logsumexp(score);
        for (int d = 0; d < dim; ++d) {
          double truth = 0;
          for (int p = 0; p < visible; ++p)
            truth += std::exp(score[p] - total) * static_cast<double>(v(0, p, h / 2, d));
          worst = std::max(worst, error(truth, out(t, h, d), 1.0));
        }
      }
    CHECK(worst < 1e-6);
  }
}

TEST_CASE("rope and silu_mul") {
  const Exec exec;
  constexpr int tokens = 5, heads = 2, dim = 32, pairs = dim / 2;
  const Kokkos::View<float***, Memory> x("x", tokens, heads, dim), y("y", tokens, heads, dim);
  const Kokkos::View<int*, Memory> positions("positions", tokens);
  const Vector frequencies("frequencies", pairs);
  invar::verify::fill_random(x, 12);
  for (int t = 0; t < tokens; ++t) positions(t) = 321 * t;
  for (int i = 0; i < pairs; ++i)
    frequencies(i) = static_cast<float>(invar::num::rope_inverse_frequency(i, dim, 10000.0));
  for (const auto kind : {invar::RopePairs::adjacent, invar::RopePairs::halves}) {
    invar::rope(exec, y, x, positions, frequencies, kind);
    exec.fence();
    double worst = 0;
    for (int t = 0; t < tokens; ++t)
      for (int h = 0; h < heads; ++h)
        for (int i = 0; i < pairs; ++i) {
          const bool adjacent = kind == invar::RopePairs::adjacent;
          const int first = adjacent ? 2 * i : i, second = adjacent ? 2 * i + 1 : i + pairs;
          // The angle is rounded to float by the contract.
          const double angle = static_cast<double>(static_cast<float>(positions(t)) * frequencies(i));
          const double a = static_cast<double>(x(t, h, first)), b = static_cast<double>(x(t, h, second));
          worst = std::max(worst, error(a * std::cos(angle) - b * std::sin(angle), y(t, h, first), 1.0));
          worst = std::max(worst, error(a * std::sin(angle) + b * std::cos(angle), y(t, h, second), 1.0));
        }
    CHECK(worst < 3e-7);
  }

  const Matrix gate = data(13), up = data(14), product("product", rows, columns);
  invar::silu_mul(exec, product, gate, up);
  exec.fence();
  double worst = 0;
  for (int j = 0; j < columns; ++j) {
    const double g = static_cast<double>(gate(0, j));
    const double truth = g / (1 + std::exp(-g)) * static_cast<double>(up(0, j));
    worst = std::max(worst, error(truth, product(0, j), std::abs(truth)));
  }
  CHECK(worst < 3e-7);
}
