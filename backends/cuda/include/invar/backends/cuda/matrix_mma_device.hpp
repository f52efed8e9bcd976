// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Which matrix units a device and the program for it have.
#ifndef INVAR_BACKENDS_CUDA_MATRIX_MMA_DEVICE_HPP
#define INVAR_BACKENDS_CUDA_MATRIX_MMA_DEVICE_HPP

#include <invar/backends/cuda/launch.hpp>
#include <invar/contract/matrix_unit.hpp>

#include <Kokkos_Core.hpp>

#include <type_traits>

namespace invar::backends::cuda::gemm {

/// Units whose bits wgmma has.
template <class Unit>
inline constexpr bool unit_has_warpgroups_v =
    std::is_same_v<Unit, hopper_16bit> || std::is_same_v<Unit, hopper_tf32> || std::is_same_v<Unit, hopper_fp8>;
/// Units whose bits mma.sync has, on some device.
template <class Unit>
inline constexpr bool unit_has_warps_v =
    std::is_same_v<Unit, hopper_16bit> || std::is_same_v<Unit, hopper_tf32> || std::is_same_v<Unit, ampere_16bit> ||
    std::is_same_v<Unit, ampere_tf32> || std::is_same_v<Unit, ada_fp8>;

/// Asks how the program was compiled for a device: code for sm_90a, and for Ada, has shared memory of its own here.
struct ProbeUnits {
  static constexpr int max_threads = 32, min_blocks = 1;
  static constexpr int words = 16;
  int* found;
  __device__ void operator()() const {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL) || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890 && __CUDA_ARCH__ < 900)
    __shared__ volatile int mark[words];
    mark[threadIdx.x % words] = 1;
    __syncwarp();
    *found = mark[(threadIdx.x + 1) % words];
#endif
  }
};

/// True where the program has code for the device that uses what its architecture alone has. Nothing is launched.
inline bool has_own_code(const Kokkos::Cuda& exec) {
  static const bool found = [&] {
    const DeviceGuard guard(exec);
    cudaFuncAttributes attributes{};
    check(cudaFuncGetAttributes(&attributes, run_body<ProbeUnits>), "cudaFuncGetAttributes");
    return attributes.sharedSizeBytes >= ProbeUnits::words * sizeof(int);
  }();
  return found;
}

/// True where the device and the program have a unit, by wgmma or by mma.sync.
template <class Unit>
bool has_unit(const Kokkos::Cuda& exec, bool by_warpgroups) {
  const cudaDeviceProp& device = exec.cuda_device_prop();
  if (by_warpgroups) return unit_has_warpgroups_v<Unit> && device.major == 9 && has_own_code(exec);
  if (!unit_has_warps_v<Unit>) return false;
  if (std::is_same_v<Unit, ada_fp8>) return device.major == 8 && device.minor == 9 && has_own_code(exec);
  if (std::is_same_v<Unit, ampere_16bit> || std::is_same_v<Unit, ampere_tf32>) return device.major == 8;
  return device.major == 9 || device.major == 10;
}

}  // namespace invar::backends::cuda::gemm

#endif
