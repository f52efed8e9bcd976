// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Proves at run time that the kernels of a matrix unit have the bits of its contract here.
#ifndef INVAR_VERIFY_SELF_CHECK_MATRIX_UNIT_HPP
#define INVAR_VERIFY_SELF_CHECK_MATRIX_UNIT_HPP

#include <invar/contract/matmul.hpp>
#include <invar/num/bits.hpp>
#include <invar/op/matmul.hpp>
#include <invar/verify/random.hpp>

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace invar {

/// What self_check_matrix_unit() found in one schedule's outputs.
struct MatrixUnitCheckItem {
  const char* schedule;  ///< the entry of schedule::matrix_unit_matmul_table
  const char* data;      ///< what the operands were
  std::int64_t outputs = 0;
  std::int64_t differing = 0;  ///< outputs whose bits are not the software model's
};

/// The report of self_check_matrix_unit(): converts to true where no output differed.
struct MatrixUnitCheckReport {
  std::vector<MatrixUnitCheckItem> items;
  std::string unit, space;  ///< names of the arithmetic and of the execution space

  bool passed() const {
    for (const MatrixUnitCheckItem& item : items)
      if (item.differing != 0) return false;
    return true;
  }
  explicit operator bool() const { return passed(); }

  /// The report as lines of text.
  std::string text() const {
    std::string lines = "Invar matrix unit check of " + unit + " on " + space + ": " +
                        (passed() ? "passed\n" : "FAILED: results here do not have the contract's bits\n");
    for (const MatrixUnitCheckItem& item : items)
      lines += std::string(item.differing == 0 ? "  ok     " : "  FAILED ") + item.schedule + ", " + item.data + ": " +
               std::to_string(item.differing) + " of " + std::to_string(item.outputs) + " outputs differ\n";
    return lines;
  }

  /// Throws std::runtime_error with text() unless no output differed.
  void require() const {
    if (!passed()) throw std::runtime_error(text());
  }
};

namespace detail {

/// The operands of self_check_matrix_unit().
enum class UnitData { patterns, ordinary, cancelling, smallest };
inline constexpr const char* unit_data_names[] = {"random bit patterns", "ordinary values", "heavy cancellation",
                                                  "products around the smallest numbers"};

/// An element with these random bits, but few NaN and infinities: else each sum would be NaN.
template <class T>
KOKKOS_FUNCTION T pattern_element(std::uint64_t bits) {
  using Format = num::OperandFormat<T>;
  constexpr int top = Format::width - 1;
  constexpr std::uint64_t fields = (std::uint64_t{1} << top) - (std::uint64_t{1} << Format::fraction_bits);
  if ((bits & fields) == fields && (bits >> 40) % 251 != 0) bits ^= std::uint64_t{1} << (top - 1);
  if constexpr (std::is_same_v<T, float>)
    return num::from_bits<float>(static_cast<std::uint32_t>(bits));
  else
    return T::from_bits(static_cast<decltype(T::bits)>(bits));
}

/// Element (i, k) of an operand.
template <class T>
KOKKOS_FUNCTION T unit_check_element(UnitData data, std::uint64_t seed, std::int64_t i, std::int64_t k) {
  const auto at = [&](std::int64_t p) { return static_cast<std::uint64_t>(i << 24 | p); };
  const float x = verify::random_value<float>(seed, at(k));
  switch (data) {
    case UnitData::patterns: return pattern_element<T>(verify::random_bits(seed, at(k)));
    case UnitData::ordinary: return T(x);
    case UnitData::cancelling: {
      // Products in pairs with opposite signs; what is left is some twelve bits below them.
      const float pair = verify::random_value<float>(seed, at(k / 2));
      return T(seed % 2 == 0 && k % 2 == 1 ? -pair * (1.0f + x * 0x1p-9f) : pair);
    }
    default: {
      constexpr int bias = num::OperandFormat<T>::bias;
      return T(x * num::from_bits<float>(std::uint32_t{bias == 127 ? 52 : 128 - bias} << 23));
    }
  }
}

template <class Exec, class View>
void fill_unit_operand(const Exec& exec, const View& v, UnitData data, std::uint64_t seed) {
  using T = typename View::value_type;
  const auto depth = static_cast<std::int64_t>(v.extent(1));
  Kokkos::parallel_for(
      "Invar::self_check_matrix_unit::fill",
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, v.extent(0) * v.extent(1)),
      KOKKOS_LAMBDA(std::int64_t e) {
        v(e / depth, e % depth) = unit_check_element<T>(data, seed, e / depth, e % depth);
      });
}

/// Outputs of c that have other bits than the expected ones. A count of integers: no order of it has other bits.
template <class Exec, class View>
std::int64_t differing_outputs(const Exec& exec, const View& expected, const View& c) {
  std::int64_t count = 0;
  const auto columns = static_cast<std::int64_t>(c.extent(1));
  Kokkos::parallel_reduce(
      "Invar::self_check_matrix_unit::compare",
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, c.extent(0) * c.extent(1)),
      KOKKOS_LAMBDA(std::int64_t e, std::int64_t & sum) {
        const std::int64_t i = e / columns, j = e % columns;
        sum += num::to_bits(float(expected(i, j))) != num::to_bits(float(c(i, j)));
      },
      count);
  return count;
}

}  // namespace detail

/// Runs every schedule that matmul has here for a matrix unit, on random bit patterns, on ordinary values, on values
/// that cancel and on the smallest ones, and compares all outputs, at every position of every tile, with the software
/// model. So it sees whether the device's unit rounds as the contract says: on a GPU that nobody has tried, after a new
/// driver, in a continuous integration. Takes some milliseconds on a GPU; waits for exec.
///
/// \tparam Unit  the arithmetic, such as hopper_16bit
/// \tparam A, B  the element types of the operands
template <class Unit, class A, class B = A, ExecutionSpace Exec>
MatrixUnitCheckReport self_check_matrix_unit(const Exec& exec) {
  using namespace detail;
  using Contract = contract::Matmul<Unit, 512>;
  using Memory = typename Exec::memory_space;
  // Whole tiles and parts of them; two leaves, the second one short.
  constexpr bool is_host = schedule::runs_on_host_v<Exec>;
  const std::int64_t m = is_host ? 35 : 200, n = is_host ? 130 : 328, k = 512 + 96;
  const Kokkos::View<A**, Kokkos::LayoutRight, Memory> a(Kokkos::view_alloc(exec, "Invar::check::a"), m, k);
  const Kokkos::View<B**, Kokkos::LayoutRight, Memory> b(Kokkos::view_alloc(exec, "Invar::check::b"), n, k);
  const Kokkos::View<float**, Kokkos::LayoutRight, Memory> expected(Kokkos::view_alloc(exec, "Invar::check::e"), m, n),
      c(Kokkos::view_alloc(exec, "Invar::check::c"), m, n);

  MatrixUnitCheckReport report{{}, Unit::name(), Exec::name()};
  for (const UnitData data : {UnitData::patterns, UnitData::ordinary, UnitData::cancelling, UnitData::smallest}) {
    fill_unit_operand(exec, a, data, 2);
    fill_unit_operand(exec, b, data, 3);
    const auto& table = schedule::matrix_unit_matmul_table<Exec>;
    matmul<Contract>(exec, expected, a, transposed(b), &table[0]);  // the model, an output at a time
    for (const schedule::Matmul& entry : table) {
      Kokkos::deep_copy(exec, c, 0.0f);
      matmul<Contract>(exec, c, a, transposed(b), &entry);
      report.items.push_back(
          {entry.name, unit_data_names[static_cast<int>(data)], m * n, differing_outputs(exec, expected, c)});
    }
  }
  return report;
}

}  // namespace invar

#endif
