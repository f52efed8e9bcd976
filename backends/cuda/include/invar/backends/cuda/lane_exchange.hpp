// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The check of the lane exchange that the row kernels rely on.
#ifndef INVAR_BACKENDS_CUDA_LANE_EXCHANGE_HPP
#define INVAR_BACKENDS_CUDA_LANE_EXCHANGE_HPP

#include <invar/backends/cuda/launch.hpp>

#include <Kokkos_Core.hpp>
#include <cstdint>

namespace invar::backends::cuda {

/// The width of a warp in bits 0 to 7, and above them one bit for every power of two below it over which a lane reads
/// its partner.
inline constexpr std::uint32_t lane_exchange_expected = 0x1f20;

struct LaneExchange {
  static constexpr int max_threads = 256;
  static constexpr int min_blocks = 1;
  std::uint32_t* found;

  __device__ void operator()() const {
    const unsigned lane = threadIdx.x % 32;
    std::uint32_t bits = static_cast<std::uint32_t>(warpSize);
    for (int power = 0; power < 5; ++power) {
      const unsigned partner = lane ^ (1u << power);
      // What travels depends on the block too, so that no compiler knows it.
      const unsigned value = __shfl_xor_sync(0xffffffffu, lane + blockIdx.x, 1 << power);
      bits |= static_cast<std::uint32_t>(value == partner + blockIdx.x) << (8 + power);
    }
    found[blockIdx.x * blockDim.x + threadIdx.x] = bits;
  }
};

/// What the threads of a block on every multiprocessor found: the first value that differs from the expected one, or
/// that. Waits for exec.
inline std::uint32_t lane_exchange(const Kokkos::Cuda& exec) {
  const auto blocks = static_cast<unsigned>(exec.cuda_device_prop().multiProcessorCount);
  const Kokkos::View<std::uint32_t*, Kokkos::CudaSpace> found(Kokkos::view_alloc(exec, "Invar::self_check::lanes"),
                                                              blocks * LaneExchange::max_threads);
  launch("Invar::self_check::lanes", exec, {dim3(blocks), dim3(LaneExchange::max_threads)}, LaneExchange{found.data()});
  const auto host = Kokkos::create_mirror_view(found);
  Kokkos::deep_copy(exec, host, found);
  exec.fence("Invar::self_check::lanes");
  for (std::size_t i = 0; i < host.extent(0); ++i)
    if (host(i) != lane_exchange_expected) return host(i);
  return lane_exchange_expected;
}

}  // namespace invar::backends::cuda

#endif
