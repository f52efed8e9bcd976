// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The launch of a kernel on the stream of a Kokkos instance, for what Kokkos' own launch cannot do: clusters, dynamic
/// shared memory above 48 KiB, a block size and register bound fixed at compile time.
#ifndef INVAR_BACKENDS_CUDA_LAUNCH_HPP
#define INVAR_BACKENDS_CUDA_LAUNCH_HPP

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace invar::backends::cuda {

/// Throws std::runtime_error with CUDA's words unless the call succeeded.
inline void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess)
    throw std::runtime_error(std::string("Invar: ") + what + ": " + cudaGetErrorString(status));
}

/// Makes an instance's device the current one while it lives.
class DeviceGuard {
 public:
  explicit DeviceGuard(const Kokkos::Cuda& exec) {
    check(cudaGetDevice(&previous_), "cudaGetDevice");
    if (exec.cuda_device() != previous_) check(cudaSetDevice(exec.cuda_device()), "cudaSetDevice");
  }
  ~DeviceGuard() { (void)cudaSetDevice(previous_); }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  int previous_ = 0;
};

/// Blocks, threads of a block, and what else a launch may ask for.
struct LaunchShape {
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes = 0;  ///< dynamic shared memory of a block; the opt-in above 48 KiB is made here
  int cluster = 1;               ///< blocks of a cluster along x; compute capability 9.0 and up
};

/// The body's own operator() is the kernel; it finds itself through blockIdx and threadIdx. Body::max_threads bounds
/// the block, Body::min_blocks asks for so many blocks on a multiprocessor.
template <class Body>
__global__ void __launch_bounds__(Body::max_threads, Body::min_blocks) run_body(const __grid_constant__ Body body) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  // The launch overlaps the end of the kernel before it: nothing is touched until that is done, and the next kernel may
  // come as far as this one is now.
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;");
#endif
  body();
}

/// Launches body() asynchronously on exec's stream. Tools see it as a parallel_for with this label.
template <class Body>
void launch(const char* label, const Kokkos::Cuda& exec, const LaunchShape& shape, const Body& body) {
  if (shape.grid.x == 0 || shape.grid.y == 0 || shape.grid.z == 0) return;
  const DeviceGuard guard(exec);
  std::uint64_t id = 0;
  const bool traced = Kokkos::Tools::profileLibraryLoaded();
  if (traced) Kokkos::Tools::beginParallelFor(label, Kokkos::Tools::Experimental::device_id(exec), &id);
  cudaLaunchConfig_t config{};
  config.gridDim = shape.grid;
  config.blockDim = shape.block;
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = exec.cuda_stream();
  cudaLaunchAttribute attribute[2];
  config.attrs = attribute;
  if (exec.cuda_device_prop().major >= 9) {
    cudaLaunchAttribute& overlap = attribute[config.numAttrs++];
    overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    overlap.val.programmaticStreamSerializationAllowed = 1;
  }
  if (shape.cluster > 1) {
    cudaLaunchAttribute& cluster = attribute[config.numAttrs++];
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = static_cast<unsigned>(shape.cluster);
    cluster.val.clusterDim.y = 1;
    cluster.val.clusterDim.z = 1;
    if (shape.cluster > 8)
      check(cudaFuncSetAttribute(run_body<Body>, cudaFuncAttributeNonPortableClusterSizeAllowed, 1), label);
  }
  if (shape.shared_bytes > 48 * 1024)
    check(cudaFuncSetAttribute(run_body<Body>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shape.shared_bytes)),
          label);
  check(cudaLaunchKernelEx(&config, run_body<Body>, body), label);
  if (traced) Kokkos::Tools::endParallelFor(id);
}

}  // namespace invar::backends::cuda

#endif
