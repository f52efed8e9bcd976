// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "device.hpp"

#include <Kokkos_Core.hpp>
#include <invar/verify/self_check.hpp>

#include <stdexcept>

namespace serve {
namespace {

using HostExec = Kokkos::DefaultHostExecutionSpace;

}  // namespace

void require_device(Device device) {
#ifndef KOKKOS_ENABLE_CUDA
  if (device == Device::cuda)
    throw std::runtime_error(
        "no CUDA here: the Kokkos that this program was built with has no CUDA backend; build Kokkos with "
        "Kokkos_ENABLE_CUDA=ON and this program with that");
#endif
  (void)device;
}

std::string missing_for_start() {
#ifdef KOKKOS_ENABLE_CUDA
  int devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&devices);
  if (status != cudaSuccess)
    return std::string("this program was built with CUDA, which finds no GPU: ") + cudaGetErrorString(status);
#endif
  return "";
}

std::string device_name(Device device) {
#ifdef KOKKOS_ENABLE_CUDA
  if (device == Device::cuda) return Kokkos::Cuda().cuda_device_prop().name;
#endif
  (void)device;
  return "CPU, " + std::to_string(HostExec().concurrency()) + " threads";
}

void require_self_check(Device device) {
#ifdef KOKKOS_ENABLE_CUDA
  if (device == Device::cuda) invar::self_check(Kokkos::Cuda()).require();
#endif
  if (device == Device::cpu) invar::self_check(HostExec()).require();
}

}  // namespace serve
