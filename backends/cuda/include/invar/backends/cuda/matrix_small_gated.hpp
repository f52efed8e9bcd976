// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// matmul_silu_mul with few rows on Hopper's matrix unit: two products and silu·mul in one kernel.
#ifndef INVAR_BACKENDS_CUDA_MATRIX_SMALL_GATED_HPP
#define INVAR_BACKENDS_CUDA_MATRIX_SMALL_GATED_HPP

#include <invar/backends/cuda/matrix_small.hpp>
#include <invar/backends/cuda/matrix_small_gated_output.hpp>

#include <Kokkos_Core.hpp>

#include <array>
#include <cstdint>

namespace invar::schedule {

/// A tile of a gated product. Nothing here reaches the arithmetic.
struct MatrixGated {
  const char* name;
  int batch;              ///< rows of a tile
  int columns;            ///< of c
  bool weights_are_rows;  ///< of the instruction; asks for weights of one pitch, and n to be a multiple of 8
};

/// Every schedule of gated products with few rows.
inline constexpr std::array<MatrixGated, 8> matrix_gated_table{{
    {"8 x 32", 8, 32, true},
    {"16 x 32", 16, 32, true},
    {"32 x 32", 32, 32, true},
    {"64 x 32", 64, 32, true},
    {"64 rows x 32", 64, 32, false},
    {"64 rows x 48", 64, 48, false},
    {"128 rows x 32", 128, 32, false},
    {"128 rows x 48", 128, 48, false},
}};

/// The schedule for c of [m, n].
/// \param are_alike  the weights allow schedules whose rows they are
inline const MatrixGated& choose_matrix_gated(std::int64_t m, std::int64_t n, bool are_alike, std::int64_t processors) {
  const auto entry = [&](std::size_t at) -> const MatrixGated& { return matrix_gated_table[at]; };
  if (are_alike && m <= 32) return entry(m <= 8 ? 0 : m <= 16 ? 1 : 2);
  if (m <= 64) return entry(4);
  // The wider tile, unless its last round leaves more processors idle.
  const auto rounds = [&](std::int64_t columns) {
    return ((n + columns - 1) / columns + processors - 1) / processors * columns;
  };
  return entry(rounds(48) <= rounds(32) ? 7 : 6);
}

}  // namespace invar::schedule

namespace invar::backends::cuda::gemm {

/// c = silu_mul(a·gate, a·up): a as [m, k], gate and up as [n, k].
template <class T>
struct GatedCall {
  MatmulInput<T> a, gate, up;
  MatmulOutput<float> out;  ///< of T or float, without an epilogue
  std::int64_t k;
  int leaf;
  bool weights_are_constant = false;  ///< no kernel in flight on the stream writes them
};

/// As launch_small(); the weights are stored [N, K].
template <class T>
bool launch_gated(const Kokkos::Cuda& exec, const GatedCall<T>& call, const schedule::MatrixGated& chosen) {
  using namespace small;
  const small::detail::Operands<T, 2> operands{call.a,    {call.gate, call.up},     call.out.m, call.out.n, call.k,
                                               call.leaf, call.weights_are_constant};
  if (call.out.chains != nullptr || !GatedOutput<T>::suits(call.out)) return false;
  if (!operands.suit() || !operands.template weights_suit<Major::k>()) return false;
  if (!small::detail::has_kernels_on(exec)) return false;
  const GatedOutput<T> output(call.out);
  const small::detail::Launch<T, GatedOutput<T>> launch(exec, operands, output, 1);
  const auto is = [&](int batch, int columns, bool weights_are_rows) {
    return chosen.batch == batch && chosen.columns == columns && chosen.weights_are_rows == weights_are_rows;
  };
  if (is(8, 32, true)) return launch.template run<small::TileShape<Rows::weights, 64, 8, 2>, Major::k>();
  if (is(16, 32, true)) return launch.template run<small::TileShape<Rows::weights, 64, 16, 2>, Major::k>();
  if (is(32, 32, true)) return launch.template run<small::TileShape<Rows::weights, 64, 32, 2>, Major::k>();
  if (is(64, 32, true)) return launch.template run<small::TileShape<Rows::weights, 64, 64, 2>, Major::k>();
  if (is(64, 32, false)) return launch.template run<small::TileShape<Rows::batch, 64, 64, 2>, Major::k>();
  if (is(64, 48, false)) return launch.template run<small::TileShape<Rows::batch, 64, 96, 1>, Major::k>();
  if (is(128, 32, false)) return launch.template run<small::TileShape<Rows::batch, 128, 64, 1>, Major::k>();
  if (is(128, 48, false)) return launch.template run<small::TileShape<Rows::batch, 128, 96, 1>, Major::k>();
  return false;
}

/// The same by the schedule for the shape.
template <class T>
bool launch_gated(const Kokkos::Cuda& exec, const GatedCall<T>& call) {
  const auto launch = [&](bool are_alike) {
    const std::int64_t processors = exec.cuda_device_prop().multiProcessorCount;
    return launch_gated(exec, call, schedule::choose_matrix_gated(call.out.m, call.out.n, are_alike, processors));
  };
  const bool are_alike = call.gate.row_stride == call.up.row_stride && call.out.n % 8 == 0;
  return launch(are_alike) || (are_alike && launch(false));
}

}  // namespace invar::backends::cuda::gemm

#endif
