// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The elementwise operations on NVIDIA GPUs.
#ifndef INVAR_BACKENDS_CUDA_ELEMENT_KERNELS_HPP
#define INVAR_BACKENDS_CUDA_ELEMENT_KERNELS_HPP

#include <invar/backends/cuda/element_schedules.hpp>
#include <invar/backends/cuda/launch.hpp>
#include <invar/backends/cuda/tile.hpp>
#include <invar/backends/cuda/warp.hpp>
#include <invar/tree/launch_elements.hpp>

#include <algorithm>
#include <cstdint>

namespace invar::backends::cuda {

/// The columns of an item, shared by `threads` threads of which this is number `thread`.
class SharedColumns {
 public:
  KOKKOS_FUNCTION SharedColumns(std::int64_t columns, std::int64_t thread, std::int64_t threads)
      : columns_(columns), thread_(thread), threads_(threads) {}

  template <class F, class Out, class... Operand>
  KOKKOS_FUNCTION void map(std::int64_t row, const F& f, const Out& out, const Operand&... operand) const {
    map_columns(row, columns_, thread_, threads_, f, out, operand...);
  }
  template <class Body>
  KOKKOS_FUNCTION void for_each(const Body& body) const {
    for (std::int64_t j = thread_; j < columns_; j += threads_) body(j);
  }

 private:
  std::int64_t columns_, thread_, threads_;
};

/// threadIdx.x and blockIdx.x count along an item's columns, threadIdx.y and blockIdx.y over items.
template <class Body>
struct ElementItems {
  static constexpr int max_threads = 128;
  static constexpr int min_blocks = 1;
  Body body;
  std::int64_t items, columns;

  __device__ void operator()() const {
    const SharedColumns line(columns, static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x,
                             static_cast<std::int64_t>(gridDim.x) * blockDim.x);
    for (std::int64_t item = static_cast<std::int64_t>(blockIdx.y) * blockDim.y + threadIdx.y; item < items;
         item += static_cast<std::int64_t>(gridDim.y) * blockDim.y)
      body(item, line);
  }
};

}  // namespace invar::backends::cuda

namespace invar::tree {

template <>
struct ElementKernels<Kokkos::Cuda> {
  template <class Body>
  static void run(const char* label, const Kokkos::Cuda& exec, std::int64_t items, std::int64_t columns,
                  const schedule::Elementwise& chosen, const Body& body) {
    using namespace backends::cuda;
    if (columns == 0) return;
    const int threads = chosen.team_size;
    const int rows_per_block = ElementItems<Body>::max_threads / threads;
    const std::int64_t vectors = leaf_count(columns, 16 / Body::element_bytes);
    const std::int64_t blocks = std::min<std::int64_t>(chosen.teams_per_item, leaf_count(vectors, 2 * threads));
    const std::int64_t layers = std::min<std::int64_t>(leaf_count(items, rows_per_block), 65535);
    launch(label, exec,
           {dim3(static_cast<unsigned>(blocks), static_cast<unsigned>(layers)),
            dim3(static_cast<unsigned>(threads), static_cast<unsigned>(rows_per_block))},
           ElementItems<Body>{body, items, columns});
  }
};

}  // namespace invar::tree

#endif
