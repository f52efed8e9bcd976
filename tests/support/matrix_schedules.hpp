// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The row law for the kernels of a matrix unit, at the sizes that they are made for; each type is a program of its own.
#ifndef INVAR_TESTS_SUPPORT_MATRIX_SCHEDULES_HPP
#define INVAR_TESTS_SUPPORT_MATRIX_SCHEDULES_HPP

#include "environment.hpp"

#include <doctest/doctest.h>

#include <invar/op/matmul.hpp>
#include <invar/verify/self_check_matrix_unit.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace invar::test {

/// A product on the device: all rows by the model, and then any of them by any schedule.
template <class T, class Unit, class R, class Layout>
class DeviceProduct {
 public:
  using Contract = contract::Matmul<Unit>;
  template <class E>
  using Rows = Kokkos::View<E**, Kokkos::LayoutRight, Kokkos::CudaSpace>;
  static constexpr std::size_t result_bytes = sizeof(R);
  static constexpr const auto& table = schedule::matrix_unit_matmul_table<Kokkos::Cuda>;

  DeviceProduct(std::int64_t m, std::int64_t n, std::int64_t k)
      : a_("a", m, k), b_("b", k, n), expected_("expected", m, n), c_("c", m, n) {
    invar::detail::fill_unit_operand(exec_, a_, invar::detail::UnitData::ordinary, 2);
    invar::detail::fill_unit_operand(exec_, transposed(b_), invar::detail::UnitData::ordinary, 3);
    matmul<Contract>(exec_, expected_, a_, b_, &table[0]);
  }

  /// Outputs of `count` rows from `first` on that a schedule, or the library's choice, computes otherwise.
  std::int64_t differing(std::int64_t first, std::int64_t count, const schedule::Matmul* schedule) const {
    const auto rows = [&](const auto& v) { return Kokkos::subview(v, std::pair(first, first + count), Kokkos::ALL); };
    Kokkos::deep_copy(exec_, c_, R(0.0f));
    matmul<Contract>(exec_, rows(c_), rows(a_), b_, schedule);
    return invar::detail::differing_outputs(exec_, rows(expected_), rows(c_));
  }

  /// The same for a product whose leaves are half as long: a wrong order.
  std::int64_t differing_by_leaf(std::int64_t count, const schedule::Matmul* schedule) const {
    using Other = contract::Matmul<Unit, Contract::leaf / 2>;
    const auto rows = [&](const auto& v) { return Kokkos::subview(v, std::pair(std::int64_t{0}, count), Kokkos::ALL); };
    matmul<Other>(exec_, rows(c_), rows(a_), b_, schedule);
    return invar::detail::differing_outputs(exec_, rows(expected_), rows(c_));
  }

  /// The same for a product that is added to what c holds.
  std::int64_t differing_in_place(std::int64_t count, const schedule::Matmul* schedule) const {
    const auto rows = [&](const auto& v) { return Kokkos::subview(v, std::pair(std::int64_t{0}, count), Kokkos::ALL); };
    const Rows<R> sums("sums", count, c_.extent(1));
    for (const auto& [c, chosen] : {std::pair(sums, &table[0]), std::pair(c_, schedule)}) {
      invar::detail::fill_unit_operand(exec_, rows(c), invar::detail::UnitData::ordinary, 4);
      matmul<Contract>(exec_, rows(c), rows(a_), b_, epilogue().with_residual(rows(c)), chosen);
    }
    return invar::detail::differing_outputs(exec_, rows(sums), rows(c_));
  }

  /// True where the schedule's own kernel takes the call, and no more general one stands in.
  bool is_taken(const schedule::Matmul& schedule) const {
    using namespace backends::cuda::gemm;
    const MatrixCall<T> call{rows_of(a_), columns_of(b_), output_of<float>(c_, epilogue()),
                             static_cast<std::int64_t>(a_.extent(1)), Contract::leaf};
    return launch_entry<Unit>(exec_, call, schedule);
  }
  bool has_wgmma() const { return backends::cuda::gemm::has_unit<Unit>(exec_, true); }

  std::int64_t rows() const { return static_cast<std::int64_t>(c_.extent(0)); }
  std::int64_t columns() const { return static_cast<std::int64_t>(c_.extent(1)); }

 private:
  Kokkos::Cuda exec_;
  Rows<T> a_;
  Kokkos::View<T**, Layout, Kokkos::CudaSpace> b_;
  Rows<R> expected_, c_;
};

/// Every batch size by the library's choice, from the first row on and from some other.
template <class Product>
void check_batch_sizes(const Product& product) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t m = 1; m <= 257; m += is_small() ? 64 : 1) sizes.push_back(m);
  for (std::int64_t m = 512; m <= (is_small() ? 512 : 8192); m *= 2) sizes.push_back(m);
  for (const std::int64_t m : sizes)
    for (const std::int64_t first : {std::int64_t{0}, std::min<std::int64_t>(29, product.rows() - m)}) {
      INFO(m, " rows from ", first, " on");
      CHECK(product.differing(first, m, nullptr) == 0);
    }
}

/// Every schedule, at batch sizes around all tiles' boundaries.
template <class Product>
void check_matrix_schedules(const Product& product) {
  for (const std::int64_t m : is_small() ? std::vector<std::int64_t>{1, 130}
                                         : std::vector<std::int64_t>{1, 7, 8, 9, 16, 33, 64, 65, 72, 127, 128, 129, 200,
                                                                     257, 300, 1000, 5000, 8192})
    for (const schedule::Matmul& schedule : Product::table) {
      if (m > product.rows()) continue;
      INFO(m, " rows, schedule ", std::string(schedule.name));
      CHECK(product.differing(0, m, &schedule) == 0);
    }
}

/// The comparison sees a wrong order in every kernel. Rounded to 16 bits, few outputs show it.
template <class Product>
void check_wrong_leaf_is_seen(const Product& product) {
  constexpr std::int64_t rows = 300;
  const std::int64_t least = Product::result_bytes < 4 ? 0 : rows * product.columns() / 4;
  for (const schedule::Matmul& schedule : Product::table) {
    INFO("other leaves, schedule ", std::string(schedule.name));
    CHECK(product.differing_by_leaf(rows, &schedule) > least);
  }
}

/// Tiles that reach beyond c may begin earlier, and compute some outputs twice: not so where c is also the residual.
template <class Product>
void check_in_place(const Product& product) {
  for (const std::int64_t m : {72, 200, 300, 5000})
    for (const schedule::Matmul& schedule : Product::table) {
      if (m > product.rows()) continue;
      INFO(m, " rows in place, schedule ", std::string(schedule.name));
      CHECK(product.differing_in_place(m, &schedule) == 0);
    }
}

/// Nearly every schedule computes what it is made for itself: those that share leaves want many of them.
template <class Product>
void check_kernels_take_calls(const Product& product) {
  if (!product.has_wgmma()) {
    std::printf("SKIP kernels by wgmma: the device or the program has none\n");
    return;
  }
  int refused = 0;
  for (const schedule::Matmul& schedule : Product::table) refused += !product.is_taken(schedule);
  CHECK(refused <= 12);  // the software model among them
}

/// All of it for weights [N, K] and [K, N] and some results.
template <class T, class Unit>
void check_matrix_unit_schedules() {
  const std::int64_t m = is_small() ? 600 : 8192;
  SUBCASE("weights [N, K]") {
    const DeviceProduct<T, Unit, T, Kokkos::LayoutLeft> product(m, 776, 2200);
    check_kernels_take_calls(product);
    check_batch_sizes(product);
    check_matrix_schedules(product);
    check_wrong_leaf_is_seen(product);
    check_in_place(product);
  }
  SUBCASE("weights [K, N]") {
    const DeviceProduct<T, Unit, T, Kokkos::LayoutRight> product(m, 776, 4232);
    check_batch_sizes(product);
    check_matrix_schedules(product);
  }
  SUBCASE("float results, many leaves") {
    const DeviceProduct<T, Unit, float, Kokkos::LayoutLeft> product(is_small() ? 600 : 1000, 136, 9000);
    check_matrix_schedules(product);
    check_wrong_leaf_is_seen(product);
  }
}

}  // namespace invar::test

#endif
