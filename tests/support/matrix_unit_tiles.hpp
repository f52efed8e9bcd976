// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tiles in the device's memory: filled, multiplied by the model, compared.
#ifndef INVAR_TESTS_SUPPORT_MATRIX_UNIT_TILES_HPP
#define INVAR_TESTS_SUPPORT_MATRIX_UNIT_TILES_HPP

#include "support/environment.hpp"
#include "support/matrix_unit_data.hpp"
#include "support/matrix_unit_instructions.hpp"

#include <invar/backends/cuda/launch.hpp>
#include <invar/num/matrix_unit.hpp>
#include <invar/verify/host_copy.hpp>

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <cstdio>
#include <string>

namespace invar::test {

template <class T>
using DeviceArray = Kokkos::View<T*, Execution>;

template <class T>
DeviceArray<T> device_array(std::int64_t n) {
  return DeviceArray<T>(Kokkos::view_alloc("tiles", Kokkos::WithoutInitializing), static_cast<std::size_t>(n));
}

/// The tiles of one instruction and what the model makes of them.
template <class A, class B>
class TileSet {
 public:
  TileSet(int tiles, int rows, int columns, int depth)
      : tiles_(tiles),
        rows_(rows),
        columns_(columns),
        depth_(depth),
        a_(device_array<A>(std::int64_t{tiles} * rows * depth)),
        b_(device_array<B>(std::int64_t{tiles} * columns * depth)),
        c_(device_array<float>(outputs())),
        d_(device_array<float>(outputs())),
        expected_(device_array<float>(outputs())) {}

  std::int64_t outputs() const { return std::int64_t{tiles_} * rows_ * columns_; }
  UnitTiles<A, B> tiles() const {
    return {tiles_, rows_, columns_, depth_, a_.data(), b_.data(), c_.data(), d_.data()};
  }
  const DeviceArray<A>& a() const { return a_; }
  const DeviceArray<B>& b() const { return b_; }
  const DeviceArray<float>& c() const { return c_; }
  const DeviceArray<float>& d() const { return d_; }
  const DeviceArray<float>& expected() const { return expected_; }

  void fill(const UnitData<A, B>& data) const {
    const UnitTiles<A, B> t = tiles();
    const auto index = [](std::int64_t n) { return Kokkos::RangePolicy<Execution, std::int64_t>(0, n); };
    Kokkos::parallel_for(
        "fill a", index(static_cast<std::int64_t>(a_.size())), KOKKOS_LAMBDA(std::int64_t i) {
          const std::int64_t line = i / t.depth;
          t.a[i] =
              data.a(static_cast<int>(line / t.rows), static_cast<int>(line % t.rows), static_cast<int>(i % t.depth));
        });
    Kokkos::parallel_for(
        "fill b", index(static_cast<std::int64_t>(b_.size())), KOKKOS_LAMBDA(std::int64_t i) {
          const std::int64_t line = i / t.depth;
          t.b[i] = data.b(static_cast<int>(line / t.columns), static_cast<int>(line % t.columns),
                          static_cast<int>(i % t.depth));
        });
    Kokkos::parallel_for(
        "fill c", index(outputs()), KOKKOS_LAMBDA(std::int64_t i) {
          const std::int64_t row = i / t.columns;
          t.c[i] =
              data.c(static_cast<int>(row / t.rows), static_cast<int>(row % t.rows), static_cast<int>(i % t.columns));
        });
  }

  /// What the model of a unit makes of the tiles. Without `accumulate` the chains start from +0.
  template <class Unit>
  void model(bool accumulate = true) const {
    const UnitTiles<A, B> t = tiles();
    float* const to = expected_.data();
    Kokkos::parallel_for(
        "model", Kokkos::RangePolicy<Execution, std::int64_t>(0, outputs()), KOKKOS_LAMBDA(std::int64_t i) {
          const std::int64_t row = i / t.columns, column = row / t.rows * t.columns + i % t.columns;
          float sum = accumulate ? t.c[i] : 0.0f;
          for (int k = 0; k < t.depth; k += Unit::group)
            sum = num::add_products<Unit>(t.a + row * t.depth + k, 1, t.b + column * t.depth + k, 1, Unit::group, sum);
          to[i] = sum;
        });
  }

  /// How many outputs differ from the model's.
  std::int64_t differing() const {
    const float* const x = d_.data();
    const float* const y = expected_.data();
    std::int64_t count = 0;
    Kokkos::parallel_reduce(
        "differing", Kokkos::RangePolicy<Execution, std::int64_t>(0, outputs()),
        KOKKOS_LAMBDA(std::int64_t i, std::int64_t & sum) { sum += num::to_bits(x[i]) != num::to_bits(y[i]) ? 1 : 0; },
        count);
    return count;
  }

 private:
  int tiles_, rows_, columns_, depth_;
  DeviceArray<A> a_;
  DeviceArray<B> b_;
  DeviceArray<float> c_, d_, expected_;
};

/// Outputs of one kind of operands and one kind of start.
struct UnitCounts {
  enum Column { outputs, differing, nan, infinite, zero, subnormal, columns };
};

/// Counts the outputs of a tile, by block.
template <class A, class B>
struct CountTile {
  static constexpr int max_threads = 256, min_blocks = 1;
  static constexpr int cells = unit_starts * UnitCounts::columns;

  UnitTiles<A, B> tiles;
  UnitData<A, B> data;
  const float* expected;
  unsigned long long* counts;  ///< by kind, start and column

  __device__ void operator()() const {
    __shared__ unsigned count[cells];
    for (int i = static_cast<int>(threadIdx.x); i < cells; i += max_threads) count[i] = 0;
    __syncthreads();
    const int tile = static_cast<int>(blockIdx.x), outputs = tiles.rows * tiles.columns;
    for (int i = static_cast<int>(threadIdx.x); i < outputs; i += max_threads) {
      const std::uint32_t found = num::to_bits(tiles.d[std::int64_t{tile} * outputs + i]);
      const std::uint32_t wanted = num::to_bits(expected[std::int64_t{tile} * outputs + i]);
      const std::uint32_t magnitude = wanted & 0x7fffffffu;
      unsigned* const to =
          count + static_cast<int>(data.start(tile, i / tiles.columns, i % tiles.columns)) * UnitCounts::columns;
      atomicAdd(to + UnitCounts::outputs, 1u);
      if (found != wanted) atomicAdd(to + UnitCounts::differing, 1u);
      if (magnitude > 0x7f800000u) atomicAdd(to + UnitCounts::nan, 1u);
      if (magnitude == 0x7f800000u) atomicAdd(to + UnitCounts::infinite, 1u);
      if (magnitude == 0) atomicAdd(to + UnitCounts::zero, 1u);
      if (magnitude != 0 && magnitude < 0x800000u) atomicAdd(to + UnitCounts::subnormal, 1u);
    }
    __syncthreads();
    unsigned long long* const to = counts + static_cast<int>(data.kind(tile)) * cells;
    for (int i = static_cast<int>(threadIdx.x); i < cells; i += max_threads)
      if (count[i] != 0) atomicAdd(to + i, static_cast<unsigned long long>(count[i]));
  }
};

/// The sum of what was counted, printed by classes.
class UnitReport {
 public:
  UnitReport() : counts_("counts", static_cast<std::size_t>(unit_kinds * unit_starts * UnitCounts::columns)) {}

  template <class A, class B>
  void count(const TileSet<A, B>& set, const UnitData<A, B>& data) const {
    backends::cuda::launch("count", Execution(), {dim3(static_cast<unsigned>(set.tiles().tiles)), dim3(256)},
                           CountTile<A, B>{set.tiles(), data, set.expected().data(), counts_.data()});
  }

  /// The sum over the classes of which `kind` and `start` are; −1 is all.
  std::uint64_t sum(int kind, int start, UnitCounts::Column column) const {
    const auto host = verify::on_host(counts_);
    std::uint64_t total = 0;
    for (int i = 0; i < unit_kinds; ++i)
      for (int j = 0; j < unit_starts; ++j)
        if ((kind < 0 || kind == i) && (start < 0 || start == j))
          total += host(static_cast<std::size_t>((i * unit_starts + j) * UnitCounts::columns + column));
    return total;
  }

  void print(const std::string& title) const {
    const auto number = [&](int kind, int start, UnitCounts::Column column) {
      return std::to_string(sum(kind, start, column));
    };
    const auto line = [&](const std::string& name, int kind, int start) {
      return ", " + name + " " + number(kind, start, UnitCounts::differing) + " of " +
             number(kind, start, UnitCounts::outputs);
    };
    std::string kinds, starts;
    for (int i = 0; i < unit_kinds; ++i) kinds += line(unit_kind_names[i], i, -1);
    for (int j = 0; j < unit_starts; ++j) starts += line(unit_start_names[j], -1, j);
    std::printf("%s%s\n  operands%s\n  start%s\n  results: NaN %s, infinite %s, zero %s, subnormal %s\n", title.c_str(),
                line("differ", -1, -1).c_str(), kinds.c_str(), starts.c_str(), number(-1, -1, UnitCounts::nan).c_str(),
                number(-1, -1, UnitCounts::infinite).c_str(), number(-1, -1, UnitCounts::zero).c_str(),
                number(-1, -1, UnitCounts::subnormal).c_str());
  }

 private:
  Kokkos::View<unsigned long long*, Execution> counts_;
};

}  // namespace invar::test

#endif
