// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Matrix products with few rows on Hopper's matrix unit: from a call to its kernel.
#ifndef INVAR_BACKENDS_CUDA_MATRIX_SMALL_HPP
#define INVAR_BACKENDS_CUDA_MATRIX_SMALL_HPP

#include <invar/backends/cuda/launch.hpp>
#include <invar/backends/cuda/matrix_call.hpp>
#include <invar/backends/cuda/matrix_small_kernel.hpp>
#include <invar/backends/cuda/matrix_small_output.hpp>
#include <invar/backends/cuda/matrix_small_schedule.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace invar::backends::cuda {
namespace small {

namespace detail {

/// Asks how the program was compiled: code for sm_90a has shared memory of its own here, other code has none.
struct ProbeWgmma {
  static constexpr int max_threads = 32, min_blocks = 1;
  int* found;
  __device__ void operator()() const {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    __shared__ volatile int mark[16];
    mark[threadIdx.x % 16] = 1;
    __syncwarp();
    *found = mark[(threadIdx.x + 1) % 16];
#endif
  }
};

/// True where the device has wgmma and the program was compiled for it. Nothing is launched to find out.
inline bool has_wgmma_on(const Kokkos::Cuda& exec) {
  if (exec.cuda_device_prop().major != 9) return false;
  static const bool is_compiled_in = [&] {
    const DeviceGuard guard(exec);
    cudaFuncAttributes attributes{};
    check(cudaFuncGetAttributes(&attributes, run_body<ProbeWgmma>), "cudaFuncGetAttributes");
    return attributes.sharedSizeBytes >= 16 * sizeof(int);
  }();
  return is_compiled_in;
}

/// A product, or two with one batch.
template <class T, int Factors>
struct Operands {
  gemm::MatmulInput<T> a, b[Factors];
  std::int64_t m, n, k;
  int leaf;
  bool b_is_constant;

  Lines<T> batch() const { return {a.data, k, m, a.row_stride}; }
  /// The weights, stored [N, K] or [K, N].
  template <Major Weights>
  Lines<T> weights(int factor) const {
    const gemm::MatmulInput<T>& w = b[factor];
    return Weights == Major::k ? Lines<T>{w.data, k, n, w.row_stride} : Lines<T>{w.data, n, k, w.k_stride};
  }
  template <Major Weights>
  bool weights_suit() const {
    for (int f = 0; f < Factors; ++f)
      if ((Weights == Major::k ? b[f].k_stride : b[f].row_stride) != 1 || !weights<Weights>(f).suits()) return false;
    return true;
  }
  /// True where kernels of this family can read the operands.
  bool suit() const {
    const auto is_extent = [](std::int64_t extent) { return extent > 0 && extent < std::int64_t{1} << 30; };
    return is_extent(m) && is_extent(n) && is_extent(k) && a.k_stride == 1 && batch().suits() &&
           (weights_suit<Major::k>() || weights_suit<Major::mn>());
  }
};

template <class T, class Output>
class Launch {
  static constexpr int factors = Output::is_gated ? 2 : 1;

 public:
  Launch(const Kokkos::Cuda& exec, const Operands<T, factors>& operands, const Output& output, int cluster)
      : exec_(exec), o_(operands), output_(output), cluster_(cluster) {}

  /// Launches the kernel of a shape; false where it does not fit the operands.
  template <class Shape, Major Weights>
  bool run() const {
    using Kernel = MatrixSmall<T, Shape, Weights, Output, false>;
    const std::int64_t leaves = (o_.k + o_.leaf - 1) / o_.leaf;
    if (leaves > 1 && o_.leaf % Shape::depth != 0) return false;
    const auto whole = [](std::int64_t extent, std::int64_t tile) { return (extent + tile - 1) / tile; };
    const std::int64_t tiles_m = whole(o_.m, Shape::batch);
    const std::int64_t tiles = tiles_m * whole(o_.n, Kernel::columns);
    if (tiles > max_tiles || tiles * tiles_m > max_products) return false;

    Plan plan{};
    plan.tiles_m = static_cast<int>(tiles_m);
    plan.over_m = static_cast<std::uint32_t>(tiles_m == 1 ? 0 : whole(std::int64_t{1} << 32, tiles_m));
    plan.tiles = static_cast<int>(tiles);
    plan.stages = static_cast<int>(whole(o_.k, Shape::depth));
    plan.leaves = static_cast<int>(leaves);
    plan.leaf_stages = leaves > 1 ? o_.leaf / Shape::depth : plan.stages;
    plan.batch_rows = Shape::weights_are_rows
                          ? Shape::batch
                          : static_cast<int>(std::min<std::int64_t>(whole(o_.m, 8) * 8, Shape::batch));
    plan.weights_are_constant = o_.b_is_constant;
    plan.shared_bytes = place<Kernel>(plan);
    if (plan.shared_bytes == 0) return false;
    const int shares = plan.shares.cluster;
    if constexpr (!Output::is_gated)
      if (shares > 1) return start<MatrixSmall<T, Shape, Weights, Output, true>, Weights>(plan, tiles * shares);
    return start<Kernel, Weights>(
        plan, std::min(tiles, static_cast<std::int64_t>(exec_.cuda_device_prop().multiProcessorCount)));
  }

 private:
  template <class Kernel, Major Weights>
  bool start(const Plan& plan, std::int64_t blocks) const {
    Kernel kernel{{}, {}, output_, plan};
    if (!o_.batch().map(kernel.batch, plan.batch_rows)) return false;
    if (!map_weights<Weights>(kernel)) return false;
    backends::cuda::launch("Invar::matmul", exec_,
                           {dim3(static_cast<unsigned>(blocks)), dim3(Kernel::max_threads),
                            static_cast<std::size_t>(plan.shared_bytes), plan.shares.cluster},
                           kernel);
    return true;
  }

  template <Major Weights, class Kernel>
  bool map_weights(Kernel& kernel) const {
    if constexpr (Kernel::weights_maps < factors) {
      const Lines<T> gate = o_.template weights<Weights>(0), up = o_.template weights<Weights>(1);
      kernel.output.up_is_first = up.data < gate.data;
      return kernel.output.up_is_first ? up.map_with(gate, kernel.weights[0], 2 * Kernel::columns)
                                       : gate.map_with(up, kernel.weights[0], 2 * Kernel::columns);
    } else {
      for (int f = 0; f < factors; ++f)
        if (!o_.template weights<Weights>(f).map(kernel.weights[f], Weights == Major::k ? Kernel::columns : chunk))
          return false;
      return true;
    }
  }

  static constexpr std::int64_t max_tiles = 1 << 24, max_products = std::int64_t{1} << 31;  // so that over_m is exact
  static constexpr int min_stages = 3, max_stages = 32;

  /// Divides shared memory, and returns how much is used; 0 where it is too small. Where it cannot hold what the blocks
  /// of a cluster send each other, there are fewer of them.
  template <class Kernel>
  int place(Plan& plan) const {
    const auto limit = static_cast<int>(exec_.cuda_device_prop().sharedMemPerBlockOptin);
    plan.ring = Kernel::ring_of(plan.batch_rows);
    Ring& ring = plan.ring;
    for (int cluster = std::max(1, std::min({Output::is_gated ? 1 : cluster_, plan.leaves, LeafShares::max_cluster}));
         cluster >= 1; --cluster) {
      plan.shares = LeafShares::of(cluster, plan.leaves, Kernel::Mail::parts);
      const std::int64_t mail = Kernel::Mail::bytes(plan.shares);
      const std::int64_t left =
          limit - std::int64_t{1024} - ring.tail_bytes - mail - static_cast<std::int64_t>(ClusterMail::shared_bytes);
      ring.stages = 1;
      const std::int64_t fitting = left / (ring.end() - ring.tail_bytes + ring.barriers_bytes());
      ring.stages = static_cast<int>(std::min<std::int64_t>(fitting, max_stages));
      if (ring.stages < min_stages) continue;
      plan.mail_at = static_cast<int>(ring.end());
      plan.barriers_at = plan.mail_at + static_cast<int>(mail);
      return 1024 + plan.barriers_at + static_cast<int>(ring.barriers_bytes() + ClusterMail::shared_bytes);
    }
    return 0;
  }

  const Kokkos::Cuda& exec_;
  const Operands<T, factors>& o_;
  const Output& output_;
  int cluster_;
};

/// The tiles whose rows are the weights.
template <Major Weights, class Launch>
bool run_weights_as_rows(const Launch& launch, const schedule::MatrixSmall& chosen) {
  const auto is = [&](int weights, int batch) { return chosen.weights == weights && chosen.batch == batch; };
  if (is(64, 8)) return launch.template run<TileShape<Rows::weights, 64, 8, 2>, Weights>();
  if (is(64, 16)) return launch.template run<TileShape<Rows::weights, 64, 16, 2>, Weights>();
  if (is(64, 32)) return launch.template run<TileShape<Rows::weights, 64, 32, 2>, Weights>();
  if (is(64, 64)) return launch.template run<TileShape<Rows::weights, 64, 64, 2>, Weights>();
  if (is(64, 128)) return launch.template run<TileShape<Rows::weights, 64, 128, 1>, Weights>();
  return false;
}
/// The tiles whose rows are the batch.
template <Major Weights, class Launch>
bool run_batch_as_rows(const Launch& launch, const schedule::MatrixSmall& chosen) {
  if constexpr (Weights == Major::mn) {
    // Columns of weights come by 64, whatever number the schedule asks for.
    if (chosen.batch == 64) return launch.template run<TileShape<Rows::batch, 64, 64, 2>, Weights>();
    return launch.template run<TileShape<Rows::batch, 128, 64, 1>, Weights>();
  } else {
    const auto is = [&](int batch, int weights) { return chosen.batch == batch && chosen.weights == weights; };
    if (is(64, 32)) return launch.template run<TileShape<Rows::batch, 64, 32, 2>, Weights>();
    if (is(64, 48)) return launch.template run<TileShape<Rows::batch, 64, 48, 2>, Weights>();
    if (is(64, 96)) return launch.template run<TileShape<Rows::batch, 64, 96, 1>, Weights>();
    if (is(128, 32)) return launch.template run<TileShape<Rows::batch, 128, 32, 1>, Weights>();
    if (is(128, 48)) return launch.template run<TileShape<Rows::batch, 128, 48, 1>, Weights>();
    if (is(128, 64)) return launch.template run<TileShape<Rows::batch, 128, 64, 1>, Weights>();
    if (is(128, 96)) return launch.template run<TileShape<Rows::batch, 128, 96, 1>, Weights>();
    return false;
  }
}

template <Major Weights, class Launch>
bool run(const Launch& launch, const schedule::MatrixSmall& chosen) {
  return chosen.weights_are_rows ? run_weights_as_rows<Weights>(launch, chosen)
                                 : run_batch_as_rows<Weights>(launch, chosen);
}

inline bool has_kernels_on(const Kokkos::Cuda& exec) { return has_wgmma_on(exec) && tensor_map_encoder() != nullptr; }

}  // namespace detail
}  // namespace small

namespace gemm {

/// Launches a product by a schedule and says whether it could: the device and the program must have wgmma, a have its
/// rows and b its rows or columns contiguous, both with 16-byte alignment and leading dimensions that keep it, and the
/// leaves be multiples of the kernel's stages, 64 or 128. Nothing has been launched where not.
template <class T>
bool launch_small(const Kokkos::Cuda& exec, const MatrixCall<T>& call, const schedule::MatrixSmall& chosen) {
  static_assert(std::is_same_v<T, bfloat16_t> || std::is_same_v<T, float16_t>);
  using namespace small;
  const small::detail::Operands<T, 1> operands{call.a, {call.b},  call.out.m,        call.out.n,
                                               call.k, call.leaf, call.b_is_constant};
  if (call.out.chains != nullptr || !operands.suit() || !small::detail::has_kernels_on(exec)) return false;
  const SmallOutput<T> output(call.out);
  const small::detail::Launch<T, SmallOutput<T>> launch(exec, operands, output, chosen.cluster);
  return operands.template weights_suit<Major::k>() ? small::detail::run<Major::k>(launch, chosen)
                                                    : small::detail::run<Major::mn>(launch, chosen);
}

}  // namespace gemm
}  // namespace invar::backends::cuda

#endif
