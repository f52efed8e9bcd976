// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Device memory for the partial results of one operation.
#ifndef INVAR_BACKENDS_CUDA_STREAM_BUFFER_HPP
#define INVAR_BACKENDS_CUDA_STREAM_BUFFER_HPP

#include <invar/backends/cuda/launch.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>

namespace invar::backends::cuda {

/// Invar's memory pool of a device. It keeps what is given back, so that only the first use of so many bytes reaches
/// the driver.
inline cudaMemPool_t memory_pool(int device) {
  static std::mutex mutex;
  static std::array<cudaMemPool_t, 64> pools{};
  const std::lock_guard lock(mutex);
  cudaMemPool_t& pool = pools.at(static_cast<std::size_t>(device));
  if (pool == nullptr) {
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = device;
    check(cudaMemPoolCreate(&pool, &properties), "cudaMemPoolCreate");
    std::uint64_t threshold = std::numeric_limits<std::uint64_t>::max();
    check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold), "cudaMemPoolSetAttribute");
  }
  return pool;
}

/// Memory that belongs to the work launched while it lives, in stream order: nothing waits, two streams never share it,
/// and in a captured graph it becomes the graph's own, so that a replay cannot meet other work in it.
class StreamBuffer {
 public:
  StreamBuffer(const Kokkos::Cuda& exec, std::size_t bytes) : stream_(exec.cuda_stream()) {
    if (bytes == 0) return;
    const DeviceGuard guard(exec);
    check(cudaMallocFromPoolAsync(&data_, bytes, memory_pool(exec.cuda_device()), stream_), "cudaMallocFromPoolAsync");
  }
  ~StreamBuffer() {
    if (data_ != nullptr) (void)cudaFreeAsync(data_, stream_);
  }
  StreamBuffer(const StreamBuffer&) = delete;
  StreamBuffer& operator=(const StreamBuffer&) = delete;

  /// The memory, aligned to 256 bytes; null where no bytes were asked for.
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  cudaStream_t stream_;
  void* data_ = nullptr;
};

}  // namespace invar::backends::cuda

#endif
