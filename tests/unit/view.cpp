// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <doctest/doctest.h>

#include <invar/view.hpp>

#include <string>
#include <utility>
#include <vector>

using namespace invar;
using Kokkos::ALL;
using Kokkos::subview;

namespace {

using Matrix = Kokkos::View<float**, Kokkos::LayoutRight, Kokkos::HostSpace>;
using Strided = Kokkos::View<float**, Kokkos::LayoutStride, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

template <class A, class B>
bool overlap(const A& a, const B& b) {
  const bool answer = detail::overlap(detail::footprint(a), detail::footprint(b));
  CHECK(answer == detail::overlap(detail::footprint(b), detail::footprint(a)));
  return answer;
}

auto range(int begin, int end) { return std::pair(begin, end); }

/// True where two views really share an element, found by looking.
template <class A, class B>
bool share(const A& a, const B& b) {
  for (std::size_t i = 0; i < a.extent(0); ++i)
    for (std::size_t j = 0; j < a.extent(1); ++j)
      for (std::size_t k = 0; k < b.extent(0); ++k)
        for (std::size_t l = 0; l < b.extent(1); ++l)
          if (&a(i, j) == &b(k, l)) return true;
  return false;
}

}  // namespace

TEST_CASE("separate, identical and nested views") {
  Matrix a("a", 4, 6), b("b", 4, 6);
  CHECK_FALSE(overlap(a, b));
  CHECK(overlap(a, a));
  CHECK(overlap(a, subview(a, 2, ALL)));
  CHECK(overlap(a, subview(a, ALL, 5)));
  CHECK(overlap(a, subview(a, range(1, 2), range(1, 2))));
}

TEST_CASE("slices of one buffer") {
  Matrix a("a", 6, 10);
  CHECK_FALSE(overlap(subview(a, range(0, 3), ALL), subview(a, range(3, 6), ALL)));
  CHECK(overlap(subview(a, range(0, 4), ALL), subview(a, range(3, 6), ALL)));
  CHECK_FALSE(overlap(subview(a, ALL, range(0, 5)), subview(a, ALL, range(5, 10))));
  CHECK(overlap(subview(a, ALL, range(0, 6)), subview(a, ALL, range(5, 10))));
  CHECK_FALSE(overlap(subview(a, ALL, 0), subview(a, ALL, range(1, 10))));
  CHECK_FALSE(overlap(subview(a, ALL, 4), subview(a, ALL, 5)));
  CHECK_FALSE(overlap(subview(a, range(0, 4), range(0, 5)), subview(a, range(2, 6), range(5, 10))));
}

TEST_CASE("row slices of a LayoutLeft buffer") {
  Kokkos::View<float**, Kokkos::LayoutLeft, Kokkos::HostSpace> a("a", 10, 6);
  CHECK_FALSE(overlap(subview(a, range(0, 5), ALL), subview(a, range(5, 10), ALL)));
  CHECK(overlap(subview(a, range(0, 6), ALL), subview(a, range(5, 10), ALL)));
}

TEST_CASE("empty views overlap nothing") {
  Matrix a("a", 4, 6);
  CHECK_FALSE(overlap(a, subview(a, range(2, 2), ALL)));
  CHECK_FALSE(overlap(subview(a, ALL, range(3, 3)), a));
}

TEST_CASE("an overlap is never missed") {
  std::vector<float> memory(200);
  int missed = 0, shared = 0, cleared = 0;
  for (int stride = 1; stride <= 5; ++stride)
    for (int other = 1; other <= 5; ++other)
      for (int offset = 0; offset < 14; ++offset)
        for (int columns = 1; columns <= 4; ++columns) {
          const Strided a(memory.data() + 20, Kokkos::LayoutStride(3, stride, 2, 1));
          const Strided b(memory.data() + 14 + offset, Kokkos::LayoutStride(3, other, columns, 2));
          const bool found = overlap(a, b);
          shared += share(a, b);
          missed += share(a, b) && !found;
          cleared += !found;
        }
  CHECK(missed == 0);
  CHECK(shared > 100);
  CHECK(cleared > 100);
}

TEST_CASE("errors name operation, argument, expected and found") {
  Matrix a("a", 4, 6);
  CHECK_THROWS_WITH_AS(detail::require_extent("op", "x", a, 1, 7), "Invar: op: x extent 1: expected 7, found 6",
                       invar::error);
  CHECK_NOTHROW(detail::require_extent("op", "x", a, 1, 6));
  CHECK_THROWS_WITH_AS(detail::require_disjoint("op", "y", a, "x", a),
                       "Invar: op: y: expected memory apart from x, found overlapping memory", invar::error);
  CHECK_NOTHROW(detail::require_disjoint_or_same("op", "y", a, "x", a));
  CHECK_NOTHROW(detail::require_disjoint_or_same("op", "y", a, "x", Matrix::const_type(a)));
  CHECK_THROWS_AS(detail::require_disjoint_or_same("op", "y", a, "x", subview(a, range(0, 3), ALL)), invar::error);
  const Kokkos::View<std::int32_t**, Kokkos::LayoutRight, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>
      same_memory(reinterpret_cast<std::int32_t*>(a.data()), 4, 6);
  CHECK_THROWS_AS(detail::require_disjoint_or_same("op", "y", a, "x", same_memory), invar::error);
}

TEST_CASE("transposed names the same elements with their indices swapped") {
  Matrix a("a", 3, 5);
  for (int i = 0; i < 15; ++i) a(i / 5, i % 5) = static_cast<float>(i);
  const auto t = transposed(Matrix::const_type(a));
  REQUIRE(t.extent(0) == 5);
  REQUIRE(t.extent(1) == 3);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 5; ++j) CHECK(&t(j, i) == &a(i, j));
  const auto back = transposed(t);
  CHECK(&back(2, 4) == &a(2, 4));
}

TEST_CASE("an output whose elements are not apart is refused") {
  using Exec = Kokkos::DefaultHostExecutionSpace;
  std::vector<float> data(100);
  const auto refused = [&](auto... extents_and_strides) {
    try {
      detail::check_output<Exec>("op", "y", Strided(data.data(), Kokkos::LayoutStride(extents_and_strides...)));
    } catch (const error& refusal) {
      return std::string(refusal.what()).find("Invar: op: y: expected elements apart from each other") == 0;
    }
    return false;
  };
  CHECK(refused(5, 0, 4, 1));
  CHECK(refused(5, 4, 4, 0));
  CHECK(refused(5, 3, 4, 1));
  CHECK_FALSE(refused(5, 4, 4, 1));
  CHECK_FALSE(refused(5, 1, 4, 5));
  CHECK_FALSE(refused(5, 2, 4, 10));
  CHECK_FALSE(refused(1, 0, 4, 1));  // one row needs no stride
  CHECK_FALSE(refused(0, 0, 4, 0));
  detail::check_output<Exec>("op", "y", subview(Matrix("a", 6, 10), ALL, range(2, 5)));
}
