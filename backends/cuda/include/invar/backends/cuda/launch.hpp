// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The launch of a kernel on the stream of a Kokkos instance, for what Kokkos' own launch cannot do: clusters, dynamic
/// shared memory above 48 KiB, a block size and register bound fixed at compile time.
#ifndef INVAR_BACKENDS_CUDA_LAUNCH_HPP
#define INVAR_BACKENDS_CUDA_LAUNCH_HPP

#include <Kokkos_Core.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
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
  bool cooperative = false;      ///< all blocks run at the same time, or the launch fails
  bool overlaps = true;          ///< blocks may begin before the previous kernel's end, compute capability 9.0 and up
};

/// Waits until the kernel before this one on the stream is done, whose end the launch overlaps.
__device__ inline void wait_for_previous_kernel() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// True for a body that calls wait_for_previous_kernel() itself, and may start while that kernel is at work. What the
/// kernels before the previous one have written is there.
template <class Body>
concept WaitsItself = requires {
  typename Body::waits_itself;
};

/// The body's own operator() is the kernel; it finds itself through blockIdx and threadIdx. Body::max_threads bounds
/// the block, Body::min_blocks asks for so many blocks on a multiprocessor.
template <class Body>
__global__ void __launch_bounds__(Body::max_threads, Body::min_blocks) run_body(const __grid_constant__ Body body) {
  if constexpr (!WaitsItself<Body>) wait_for_previous_kernel();
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  // Only now may the next kernel come as far as this one is: so it finds all but this one done.
  asm volatile("griddepcontrol.launch_dependents;");
#endif
  body();
}

/// Makes the opt-in that shared memory above 48 KiB needs: once a kernel and device, since it costs the host a good
/// part of a launch.
template <class Body>
void allow_shared(const char* label, const Kokkos::Cuda& exec, const LaunchShape& shape) {
  constexpr int devices = 64;
  static std::array<std::atomic<int>, devices> allowed{};
  static std::mutex raising;  // so that a smaller opt-in cannot follow a larger one
  const int bytes = static_cast<int>(shape.shared_bytes), device = exec.cuda_device();
  if (bytes <= 48 * 1024 || (device < devices && bytes <= allowed[device].load(std::memory_order_acquire))) return;
  const std::scoped_lock lock(raising);
  if (device < devices && bytes <= allowed[device].load(std::memory_order_relaxed)) return;
  check(cudaFuncSetAttribute(run_body<Body>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), label);
  if (device < devices) allowed[device].store(bytes, std::memory_order_release);
}

/// A LaunchShape in CUDA's terms, for the kernel of a body.
template <class Body>
class LaunchConfig {
 public:
  LaunchConfig(const char* label, const Kokkos::Cuda& exec, const LaunchShape& shape) {
    config_.gridDim = shape.grid;
    config_.blockDim = shape.block;
    config_.dynamicSmemBytes = shape.shared_bytes;
    config_.stream = exec.cuda_stream();
    config_.attrs = attribute_;
    if (shape.overlaps && exec.cuda_device_prop().major >= 9) {
      cudaLaunchAttribute& overlap = attribute_[config_.numAttrs++];
      overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
      overlap.val.programmaticStreamSerializationAllowed = 1;
    }
    if (shape.cluster > 1) {
      cudaLaunchAttribute& cluster = attribute_[config_.numAttrs++];
      cluster.id = cudaLaunchAttributeClusterDimension;
      cluster.val.clusterDim.x = static_cast<unsigned>(shape.cluster);
      cluster.val.clusterDim.y = 1;
      cluster.val.clusterDim.z = 1;
      if (shape.cluster > 8)
        check(cudaFuncSetAttribute(run_body<Body>, cudaFuncAttributeNonPortableClusterSizeAllowed, 1), label);
    }
    if (shape.cooperative) {
      cudaLaunchAttribute& cooperative = attribute_[config_.numAttrs++];
      cooperative.id = cudaLaunchAttributeCooperative;
      cooperative.val.cooperative = 1;
    }
    allow_shared<Body>(label, exec, shape);
  }
  LaunchConfig(const LaunchConfig&) = delete;
  LaunchConfig& operator=(const LaunchConfig&) = delete;
  const cudaLaunchConfig_t* get() const { return &config_; }

 private:
  cudaLaunchConfig_t config_{};
  cudaLaunchAttribute attribute_[3];
};

/// Launches body() asynchronously on exec's stream. Tools see it as a parallel_for with this label.
template <class Body>
void launch(const char* label, const Kokkos::Cuda& exec, const LaunchShape& shape, const Body& body) {
  if (shape.grid.x == 0 || shape.grid.y == 0 || shape.grid.z == 0) return;
  const DeviceGuard guard(exec);
  std::uint64_t id = 0;
  const bool traced = Kokkos::Tools::profileLibraryLoaded();
  if (traced) Kokkos::Tools::beginParallelFor(label, Kokkos::Tools::Experimental::device_id(exec), &id);
  const LaunchConfig<Body> config(label, exec, shape);
  check(cudaLaunchKernelEx(config.get(), run_body<Body>, body), label);
  if (traced) Kokkos::Tools::endParallelFor(id);
}

/// Blocks of this shape that the device can run at a time; 0 where their shared memory is more than it has.
template <class Body>
int resident_blocks(const char* label, const Kokkos::Cuda& exec, const LaunchShape& shape) {
  if (shape.shared_bytes > exec.cuda_device_prop().sharedMemPerBlockOptin) return 0;
  const DeviceGuard guard(exec);
  allow_shared<Body>(label, exec, shape);
  int blocks = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, run_body<Body>, static_cast<int>(shape.block.x),
                                                      shape.shared_bytes),
        label);
  return blocks * exec.cuda_device_prop().multiProcessorCount;
}

}  // namespace invar::backends::cuda

#endif
