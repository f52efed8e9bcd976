// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What every timing on a GPU needs: a stream, and a second-level cache emptied by reading, which leaves no dirty lines.
#ifndef INVAR_PERF_CUDA_COLD_CACHE_HPP
#define INVAR_PERF_CUDA_COLD_CACHE_HPP

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace invar::perf {

inline void check(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

/// A stream and its Kokkos instance.
class Stream {
 public:
  Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~Stream() { (void)cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  cudaStream_t get() const { return stream_; }
  Kokkos::Cuda exec() const { return Kokkos::Cuda(stream_); }

 private:
  cudaStream_t stream_ = nullptr;
};

/// Memory of the device that begins where cudaMalloc's would. A View's has 128 bytes before it, and cublasLt wants
/// multiples of 256.
class AlignedBytes {
 public:
  AlignedBytes(const std::string& label, std::size_t size) : size_(size), bytes_(label, size + alignment) {}
  char* data() const {
    const auto begin = reinterpret_cast<std::uintptr_t>(bytes_.data());
    return bytes_.data() + (alignment - begin % alignment) % alignment;
  }
  std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t alignment = 1024;
  std::size_t size_;
  Kokkos::View<char*, Kokkos::CudaSpace> bytes_;
};

/// Reads more than any cache holds.
class CacheFlush {
 public:
  CacheFlush() : data_("flush", std::size_t{64} << 20), sink_("sink") {}
  void run(const Kokkos::Cuda& exec) const {
    const auto data = data_;
    const auto sink = sink_;
    Kokkos::parallel_for(
        "flush", Kokkos::RangePolicy<Kokkos::Cuda>(exec, 0, data.extent(0) / 16), KOKKOS_LAMBDA(std::int64_t i) {
          std::uint32_t seen = 0;
          for (std::size_t k = 0; k < 16; ++k) seen |= data(i + k * (data.extent(0) / 16));
          if (seen != 0) sink() = seen;
        });
  }

 private:
  Kokkos::View<std::uint32_t*, Kokkos::CudaSpace> data_;
  Kokkos::View<std::uint32_t, Kokkos::CudaSpace> sink_;
};

}  // namespace invar::perf

#endif
