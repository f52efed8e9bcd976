// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Views of more than 2^31 elements: rows near the end, and rows on both sides of element 2^31, have the bits that the
// specification gives for those rows alone.
#include "support/check_bits.hpp"
#include "support/environment.hpp"

#include <invar/op/attention.hpp>
#include <invar/op/embedding.hpp>
#include <invar/op/matmul.hpp>
#include <invar/op/rms_norm.hpp>
#include <invar/op/silu_mul.hpp>
#include <invar/op/softmax.hpp>
#include <invar/op/sum.hpp>
#include <invar/reference/attention.hpp>
#include <invar/reference/matmul.hpp>
#include <invar/reference/rms_norm.hpp>
#include <invar/reference/rows.hpp>
#include <invar/reference/silu_mul.hpp>
#include <invar/reference/softmax.hpp>
#include <invar/verify/random.hpp>

#include <cstdint>
#include <cstdio>
#include <utility>

using namespace invar;
using invar::test::Execution;

namespace {

constexpr std::int64_t two_to_31 = std::int64_t{1} << 31;

template <class Data>
using Device = Kokkos::View<Data, Kokkos::LayoutRight, Execution::memory_space>;
template <class Data>
using Host = Kokkos::View<Data, Kokkos::LayoutRight, Kokkos::HostSpace>;

/// False, with the reason, where the device cannot hold so many GiB or the tests are to be small.
bool has_room(std::int64_t gib) {
  std::size_t free = 0, total = 0;
  if (cudaMemGetInfo(&free, &total) != cudaSuccess) free = 0;
  const bool small = test::is_small(), fits = static_cast<std::int64_t>(free >> 30) > gib;
  if (small) std::printf("SKIP: more than 2^31 elements, for the tests are to be small\n");
  if (!small && !fits)
    std::printf("SKIP: more than 2^31 elements need %lld GiB on the device, which has %zu free\n",
                static_cast<long long>(gib), free >> 30);
  return !small && fits;
}

/// Without initialisation, which would take longer than the test.
template <class V, class... Extents>
V empty(Extents... extents) {
  return V(Kokkos::view_alloc(Kokkos::WithoutInitializing, "large"), extents...);
}

/// Fills a view without gaps with random_value(seed, flat index) on the device.
template <class V>
void fill_on_device(const V& v, std::uint64_t seed) {
  using T = typename V::value_type;
  T* const data = v.data();
  Kokkos::parallel_for(
      "fill", Kokkos::RangePolicy<Execution, Kokkos::IndexType<std::int64_t>>(0, static_cast<std::int64_t>(v.size())),
      KOKKOS_LAMBDA(std::int64_t i) { data[i] = verify::random_value<T>(seed, static_cast<std::uint64_t>(i)); });
  Kokkos::fence();
}

/// Rows [begin, begin + rows) of what fill_on_device gives a matrix of so many columns.
template <class T>
Host<T**> rows_on_host(std::int64_t begin, std::int64_t rows, std::int64_t columns, std::uint64_t seed) {
  const Host<T**> x("rows", rows, columns);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      x(i, j) = verify::random_value<T>(seed, static_cast<std::uint64_t>((begin + i) * columns + j));
  return x;
}

constexpr std::int64_t columns = 4096;
constexpr std::int64_t rows = two_to_31 / columns + 3;

/// Calls check(first row, rows) for a few rows at the start, around element 2^31, and at the end.
template <class Check>
void for_chosen_rows(const Check& check) {
  check(std::int64_t{0}, std::int64_t{1});
  check(two_to_31 / columns / 2 - 1, std::int64_t{2});
  check(two_to_31 / columns - 2, std::int64_t{5});
}

template <class V>
auto rows_of(const V& v, std::int64_t begin, std::int64_t count) {
  return Kokkos::subview(v, std::pair(begin, begin + count), Kokkos::ALL);
}

}  // namespace

TEST_CASE("more than 2^31 elements: rms_norm and softmax over many rows") {
  if (!has_room(10)) return;
  using T = bfloat16_t;
  const auto x = empty<Device<T**>>(rows, columns), y = empty<Device<T**>>(rows, columns);
  const auto weight = empty<Device<T*>>(columns);
  fill_on_device(x, 1);
  fill_on_device(weight, 2);
  const auto weight_host = verify::on_host(weight);
  rms_norm(Execution(), y, x, weight, 1e-5f);
  for_chosen_rows([&](std::int64_t begin, std::int64_t count) {
    const Host<T**> expected("expected", count, columns);
    reference::rms_norm(expected, rows_on_host<T>(begin, count, columns, 1), weight_host, 1e-5f);
    CHECK_BITS(expected, rows_of(y, begin, count));
  });
  softmax(Execution(), y, x);
  for_chosen_rows([&](std::int64_t begin, std::int64_t count) {
    const Host<T**> expected("expected", count, columns);
    reference::softmax(expected, rows_on_host<T>(begin, count, columns, 1));
    CHECK_BITS(expected, rows_of(y, begin, count));
  });
  CHECK_BITS_DIFFER(rows_of(y, 0, 1), rows_of(y, rows - 1, 1));
}

TEST_CASE("more than 2^31 elements: sum of two long rows") {
  if (!has_room(6)) return;
  using T = bfloat16_t;
  const std::int64_t n = two_to_31 / 2 + 640;
  const auto x = empty<Device<T**>>(2, n);
  const auto result = empty<Device<float*>>(2);
  fill_on_device(x, 3);
  sum(Execution(), result, x);
  const Host<float*> expected("expected", 1);
  expected(0) = reference::row_sum<contract::Sum, float>(n, [&](std::int64_t j) {
    return static_cast<float>(verify::random_value<T>(3, static_cast<std::uint64_t>(n + j)));
  });
  CHECK_BITS(expected, Kokkos::subview(result, std::pair(1, 2)));
}

TEST_CASE("more than 2^31 elements: silu_mul") {
  if (!has_room(14)) return;
  using T = bfloat16_t;
  const auto gate = empty<Device<T**>>(rows, columns), up = empty<Device<T**>>(rows, columns),
             y = empty<Device<T**>>(rows, columns);
  fill_on_device(gate, 4);
  fill_on_device(up, 5);
  silu_mul(Execution(), y, gate, up);
  for_chosen_rows([&](std::int64_t begin, std::int64_t count) {
    const Host<T**> expected("expected", count, columns);
    reference::silu_mul(expected, rows_on_host<T>(begin, count, columns, 4), rows_on_host<T>(begin, count, columns, 5));
    CHECK_BITS(expected, rows_of(y, begin, count));
  });
}

TEST_CASE("more than 2^31 elements: a table of embeddings") {
  if (!has_room(6)) return;
  using T = bfloat16_t;
  const auto table = empty<Device<T**>>(rows, columns), y = empty<Device<T**>>(1, columns);
  fill_on_device(table, 6);
  for_chosen_rows([&](std::int64_t begin, std::int64_t count) {
    const Device<std::int64_t*> id("id", 1);
    Kokkos::deep_copy(id, begin + count - 1);
    embedding(Execution(), y, table, id);
    CHECK_BITS(rows_on_host<T>(begin + count - 1, 1, columns, 6), y);
  });
}

TEST_CASE("more than 2^31 elements: the result of a matmul") {
  if (!has_room(11)) return;
  const std::int64_t m = 65537, n = 32769, k = 16;
  const auto a = empty<Device<float**>>(m, k), b = empty<Device<float**>>(k, n), c = empty<Device<float**>>(m, n);
  fill_on_device(a, 7);
  fill_on_device(b, 8);
  const auto b_host = verify::on_host(b);
  matmul(Execution(), c, a, b);
  for (const std::int64_t row : {std::int64_t{0}, m / 2, m - 3, m - 2, m - 1}) {
    const Host<float**> expected("expected", 1, n);
    reference::matmul(expected, rows_on_host<float>(row, 1, k, 7), b_host);
    CHECK_BITS(expected, rows_of(c, row, 1));
  }
}

TEST_CASE("more than 2^31 elements: the operand of a matmul") {
  if (!has_room(11)) return;
  const std::int64_t m = 3, n = 65537, k = 32769;
  const auto a = empty<Device<float**>>(m, k), b = empty<Device<float**>>(n, k), c = empty<Device<float**>>(m, n);
  fill_on_device(a, 9);
  fill_on_device(b, 10);
  const auto a_host = verify::on_host(a);
  matmul(Execution(), c, a, transposed(b));
  const Host<float**> expected("expected", m, 4);
  reference::matmul(expected, a_host, transposed(rows_on_host<float>(n - 4, 4, k, 10)));
  CHECK_BITS(expected, Kokkos::subview(c, Kokkos::ALL, std::pair(n - 4, n)));
}

TEST_CASE("more than 2^31 elements: a KV cache") {
  if (!has_room(10)) return;
  using T = bfloat16_t;
  const std::int64_t requests = 2049, positions = 4096, heads = 2, dim = 128;
  const auto k = empty<Device<T****>>(requests, positions, heads, dim),
             v = empty<Device<T****>>(requests, positions, heads, dim);
  fill_on_device(k, 11);
  fill_on_device(v, 12);
  const auto q = empty<Device<T***>>(1, 4, dim), out = empty<Device<T***>>(1, 4, dim);
  fill_on_device(q, 13);
  // The only query belongs to the last request.
  const Host<std::int32_t*> begin_host("begin", requests + 1), length_host("length", requests);
  begin_host(requests) = 1;
  length_host(requests - 1) = positions;
  const Device<std::int32_t*> begin("begin", requests + 1), length("length", requests);
  Kokkos::deep_copy(begin, begin_host);
  Kokkos::deep_copy(length, length_host);
  attention(Execution(), out, q, ContiguousKv{k, v}, begin, length, {0.1f, true});

  const auto last = [&](const auto& cache) {
    return verify::on_host(
        Kokkos::subview(cache, std::pair(requests - 1, requests), Kokkos::ALL, Kokkos::ALL, Kokkos::ALL));
  };
  const Host<std::int32_t*> one_begin("begin", 2), one_length("length", 1);
  one_begin(1) = 1;
  one_length(0) = positions;
  const Host<T***> expected("expected", 1, 4, dim);
  reference::attention(expected, verify::on_host(q), ContiguousKv{last(k), last(v)}, one_begin, one_length, 0.1f, true);
  CHECK_BITS(expected, out);
}
