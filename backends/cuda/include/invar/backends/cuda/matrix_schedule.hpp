// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Schedules of matmul with a matrix unit's arithmetic on CUDA, and the choice among them.
#ifndef INVAR_BACKENDS_CUDA_MATRIX_SCHEDULE_HPP
#define INVAR_BACKENDS_CUDA_MATRIX_SCHEDULE_HPP

#include <invar/backends/cuda/matrix_large_schedule.hpp>
#include <invar/backends/cuda/matrix_mma_schedule.hpp>
#include <invar/backends/cuda/matrix_small_schedule.hpp>
#include <invar/schedule/matrix_unit_matmul.hpp>

#include <Kokkos_Core.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace invar::schedule {

/// The kernels behind an entry: which family, and which entry of the family's table.
struct MatrixKernel {
  enum class Family { model, mma, small, large };
  static constexpr int most = 1000;  ///< entries of a family

  Family family;
  std::size_t entry;

  static constexpr MatrixKernel of(const Matmul& schedule) {
    return {static_cast<Family>(schedule.kernel / most), static_cast<std::size_t>(schedule.kernel % most)};
  }
  constexpr int number() const { return static_cast<int>(family) * most + static_cast<int>(entry); }
};

/// On a GPU tile_m × tile_n are the outputs of a block and block_m its rows. An entry that cannot take a call, for what
/// its operands are or what the device has, leaves it to a more general one: the large tiles and the small ones want
/// wgmma and operands that bulk copies can read, those of mma.sync a matrix unit with the contract's bits, and the
/// software model nothing.
template <>
struct MatrixUnitMatmulSchedules<Kokkos::Cuda> {
 private:
  static constexpr std::size_t size = 1 + matrix_mma_table.size() + matrix_small_table.size() + large_tiles.size();

 public:
  static constexpr std::array<Matmul, size> table = [] {
    using Family = MatrixKernel::Family;
    std::array<Matmul, size> all{};
    std::size_t at = 0;
    all[at++] = {"an output a thread", 1, 1, 1};
    for (std::size_t e = 0; e < matrix_mma_table.size(); ++e) {
      const MatrixMma& tile = matrix_mma_table[e];
      all[at++] = {tile.name, tile.rows,          tile.columns,
                   tile.rows, tile.splits_leaves, MatrixKernel{Family::mma, e}.number()};
    }
    for (std::size_t e = 0; e < matrix_small_table.size(); ++e) {
      const MatrixSmall& tile = matrix_small_table[e];
      all[at++] = {tile.name,  tile.batch,       tile.weights,
                   tile.batch, tile.cluster > 1, MatrixKernel{Family::small, e}.number()};
    }
    for (std::size_t e = 0; e < large_tiles.size(); ++e) {
      const LargeTile& tile = large_tiles[e];
      all[at++] = {tile.name, tile.rows, tile.columns, tile.rows, false, MatrixKernel{Family::large, e}.number()};
    }
    return all;
  }();

  static const Matmul& choose(const Kokkos::Cuda& exec, const MatrixUnitProblem& problem) {
    return choose(exec.cuda_device_prop().multiProcessorCount, problem);
  }

  /// The choice for a device with so many multiprocessors.
  static const Matmul& choose(std::int64_t processors, const MatrixUnitProblem& p) {
    const std::int64_t leaves = (p.k + p.leaf - 1) / p.leaf;
    const auto large = [](const LargeTile& tile) -> const Matmul& {
      return table[first_large + static_cast<std::size_t>(&tile - large_tiles.data())];
    };
    const bool is_16_bit = p.element_bytes == 2;
    if (is_16_bit)
      if (const LargeTile* const tile =
              choose_large_tile_for_few(static_cast<int>(processors), p.m, p.n, leaves, p.b_is_contiguous_along_k))
        return large(*tile);
    const MatrixSmall* const small = choose_matrix_small(p.m, p.n, leaves, p.b_is_contiguous_along_k, processors);
    if (small != nullptr && (is_16_bit || p.m <= 128))
      return table[first_small + static_cast<std::size_t>(small - matrix_small_table.data())];
    return large(choose_large_tile(static_cast<int>(processors), p.m, p.n, p.k, p.leaf, p.element_bytes,
                                   p.b_is_contiguous_along_k));
  }

 private:
  static constexpr std::size_t first_small = 1 + matrix_mma_table.size();
  static constexpr std::size_t first_large = first_small + matrix_small_table.size();
};

}  // namespace invar::schedule

#endif
