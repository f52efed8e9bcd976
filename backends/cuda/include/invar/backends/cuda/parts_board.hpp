// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// How the blocks of one launch exchange values while they run.
#ifndef INVAR_BACKENDS_CUDA_PARTS_BOARD_HPP
#define INVAR_BACKENDS_CUDA_PARTS_BOARD_HPP

#include <invar/backends/cuda/warp.hpp>

#include <cstddef>
#include <cstdint>

namespace invar::backends::cuda {

/// Through which the blocks of one launch tell each other the values of their parts; in device memory.
template <class Value>
class PartsBoard {
 public:
  /// \param memory  of bytes(tasks)
  PartsBoard(void* memory, std::int64_t tasks)
      : value_(static_cast<Value*>(memory)), is_there_(reinterpret_cast<unsigned*>(value_ + tasks)) {}
  static std::size_t bytes(std::int64_t tasks) {
    return static_cast<std::size_t>(tasks) * (sizeof(Value) + sizeof(unsigned));
  }
  unsigned* flags() const { return is_there_; }

  __device__ void publish(std::int64_t task, const Value& value) const {
    value_[task] = value;
    asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(is_there_ + task) : "memory");
  }
  /// Waits for parts first … first + count − 1, at most 32, of which each lane of the warp gets its own; lanes without
  /// one get the first.
  __device__ Value collect(std::int64_t first, int count) const {
    const std::int64_t mine = first + (lane() < count ? lane() : 0);
    while (!__all_sync(0xffffffffu, acquire(is_there_ + mine) != 0)) __nanosleep(20);
    return value_[mine];
  }

 private:
  static __device__ unsigned acquire(const unsigned* flag) {
    unsigned seen;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
    return seen;
  }

  Value* value_;
  unsigned* is_there_;
};

/// No part is there.
struct ClearFlags {
  static constexpr int max_threads = 256;
  static constexpr int min_blocks = 1;
  unsigned* flag;
  std::int64_t count;
  __device__ void operator()() const {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * max_threads + threadIdx.x;
    if (i < count) flag[i] = 0;
  }
};

}  // namespace invar::backends::cuda

#endif
