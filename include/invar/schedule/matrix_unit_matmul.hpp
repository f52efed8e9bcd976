// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Schedules of matmul with a matrix unit's arithmetic.
#ifndef INVAR_SCHEDULE_MATRIX_UNIT_MATMUL_HPP
#define INVAR_SCHEDULE_MATRIX_UNIT_MATMUL_HPP

#include <invar/schedule/matmul.hpp>

#include <Kokkos_Core.hpp>
#include <array>
#include <cstdint>
#include <type_traits>

namespace invar::schedule {

/// True where an execution space's workers are threads of the host.
template <class Exec>
inline constexpr bool runs_on_host_v = Kokkos::SpaceAccessibility<Exec, Kokkos::HostSpace>::accessible;

/// What a choice may depend on.
struct MatrixUnitProblem {
  std::int64_t m, n, k;          ///< c is [m, n], and k is summed over
  std::int64_t leaf;             ///< of the contract
  bool b_is_contiguous_along_k;  ///< as with weights stored [N, K]
  int element_bytes;             ///< of the operands
};

/// The software model on a host: columns in vectors, and block_m rows that share decoded columns of b.
struct ModelOnHost {
  static constexpr std::array<Matmul, 4> table{{
      {"an output a task", 1, 1, 1},
      {"1 x 64", 1, 64, 1},
      {"8 x 64", 1, 64, 8},
      {"32 x 64", 1, 64, 32},
  }};
  static const Matmul& choose(std::int64_t m) { return table[m <= 1 ? 1 : m <= 8 ? 2 : 3]; }
};

/// The software model on a GPU: slow, but with the contract's bits.
struct ModelOnDevice {
  static constexpr std::array<Matmul, 1> table{{{"an output a thread", 1, 1, 1}}};
  static const Matmul& choose(std::int64_t /*m*/) { return table[0]; }
};

/// The schedules on a backend, and the choice among them; a backend that has the unit specialises it.
template <class Exec>
struct MatrixUnitMatmulSchedules {
  using Model = std::conditional_t<runs_on_host_v<Exec>, ModelOnHost, ModelOnDevice>;
  static constexpr const auto& table = Model::table;
  static const Matmul& choose(const Exec&, const MatrixUnitProblem& problem) { return Model::choose(problem.m); }
};

/// Every schedule of matmul with a matrix unit's arithmetic. Tests run each of them against the reference.
template <class Exec>
inline constexpr const auto& matrix_unit_matmul_table = MatrixUnitMatmulSchedules<Exec>::table;

/// The schedule for a problem.
template <class Exec>
const Matmul& choose_matrix_unit_matmul(const Exec& exec, const MatrixUnitProblem& problem) {
  return MatrixUnitMatmulSchedules<Exec>::choose(exec, problem);
}

}  // namespace invar::schedule

#endif
