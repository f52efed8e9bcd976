// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The row operations on NVIDIA GPUs: kernels and launches.
#ifndef INVAR_BACKENDS_CUDA_ROW_KERNELS_HPP
#define INVAR_BACKENDS_CUDA_ROW_KERNELS_HPP

#include <invar/backends/cuda/held_line.hpp>
#include <invar/backends/cuda/launch.hpp>
#include <invar/backends/cuda/row_lines.hpp>
#include <invar/backends/cuda/row_parts.hpp>
#include <invar/backends/cuda/row_schedules.hpp>
#include <invar/backends/cuda/stream_buffer.hpp>
#include <invar/tree/row_kernel.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>

namespace invar::backends::cuda {

/// Blocks that a grid may have along x.
inline constexpr std::int64_t max_blocks = 2147483647;

/// Blocks that may share a row through a cluster on this device.
inline int clipped_cluster(const Kokkos::Cuda& exec, int wanted) {
  const int most = exec.cuda_device_prop().major >= 9 ? 16 : 1;
  return std::min(wanted, most);
}

/// Rows to warps.
template <class Body>
struct WarpRows {
  static constexpr int max_threads = 128;
  static constexpr int min_blocks = 8;
  Body body;
  std::int64_t rows, columns;

  __device__ void operator()() const {
    const std::int64_t row =
        static_cast<std::int64_t>(blockIdx.x) * (max_threads / warp_size) + threadIdx.x / warp_size;
    if (row < rows) body(row, WarpLine(columns));
  }
};

/// Rows to blocks or clusters.
template <class Body>
struct BlockRows {
  static constexpr int max_threads = 512;
  static constexpr int min_blocks = 2;
  Body body;
  std::int64_t rows, columns;
  int nodes, cluster;

  __device__ void operator()() const {
    extern __shared__ __align__(16) char shared[];
    const std::int64_t row = blockIdx.x / static_cast<unsigned>(cluster);
    const Cluster blocks(cluster);
    blocks.arrive();
    body(row, BlockLine(columns, nodes, shared, blocks));
  }
};

/// Rows to blocks or clusters whose warps hold a pass each.
template <class Body>
struct HeldRows {
  using Group = LeafGroup<typename Body::contract, Body::element_bytes>;
  using Line = HeldLine<Group>;
  static constexpr int max_threads = Line::max_warps * warp_size;
  // A row alone leaves registers for twice as many warps as a row with its weights.
  static constexpr int min_blocks = Body::held_operands == 1 ? 2 : 1;
  Body body;
  std::int64_t columns;
  int cluster;

  __device__ void operator()() const {
    extern __shared__ __align__(16) char shared[];
    const std::int64_t row = blockIdx.x / static_cast<unsigned>(cluster);
    body(row, Line(columns, Body::contract::leaf, Cluster(cluster), shared));
  }

  static std::int64_t passes(std::int64_t columns) { return HeldPass<Group>::count(columns, Body::contract::leaf); }
  /// True where rows can be held.
  static bool can_hold(const Kokkos::Cuda& exec, const Body& body, std::int64_t columns) {
    const int most = clipped_cluster(exec, Line::max_cluster);
    return Group::passes <= 8 && columns % Group::vector == 0 && passes(columns) <= most * Line::max_warps &&
           body.every_operand(IsVectorEverywhere<Group::vector>());
  }
};

/// One aligned subtree of a row to each block: blockIdx.x is the subtree, blockIdx.y the row.
template <class Reduction>
struct PartialRows {
  using Value = typename Reduction::value_type;
  static constexpr int max_threads = 512;
  static constexpr int min_blocks = 2;
  Reduction reduction;
  std::int64_t rows, columns;
  int passes_per_block;
  Value* partial;  ///< [rows, subtrees]

  __device__ void operator()() const {
    extern __shared__ __align__(16) char shared[];
    for (std::int64_t row = blockIdx.y; row < rows; row += gridDim.y) {
      const Passes<Reduction> passes{reduction, row, columns};
      const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * passes_per_block;
      const std::int64_t left = passes.count() - first;
      const BlockLine line(columns, passes_per_block, shared, Cluster(1));
      const Value value = line.template fold_shared<Value>(
          left < passes_per_block ? left : passes_per_block,
          [&](std::int64_t pass) { return passes.value(first + pass); },
          [&](const Value& a, const Value& b) { return reduction.join(a, b); });
      if (threadIdx.x == 0) partial[row * gridDim.x + blockIdx.x] = value;
      __syncthreads();
    }
  }
};

/// Folds the subtrees of each row and stores the result.
template <class Body>
struct FoldedRows {
  using Value = decltype(Body::reduction.empty());
  static constexpr int max_threads = 512;
  static constexpr int min_blocks = 1;
  Body body;
  std::int64_t rows, subtrees;
  int nodes;
  const Value* partial;

  __device__ void operator()() const {
    extern __shared__ __align__(16) char shared[];
    const std::int64_t row = blockIdx.x;
    const Value* const mine = partial + row * subtrees;
    const auto join = [&](const Value& a, const Value& b) { return body.reduction.join(a, b); };
    // A warp folds 32 neighbouring subtrees at once.
    const BlockLine line(0, nodes, shared, Cluster(1));
    const Value value = line.template fold_shared<Value>(
        tree::leaf_count(subtrees, warp_size),
        [&](std::int64_t i) {
          const std::int64_t first = i * warp_size;
          const int here = subtrees - first < warp_size ? static_cast<int>(subtrees - first) : warp_size;
          return fold_lanes(mine[first + (lane() < here ? lane() : 0)], here, join);
        },
        join);
    if (threadIdx.x == 0) body.write(row, value);
  }
};

/// Values that a block's shared memory has to hold for so many passes.
inline int nodes_for(std::int64_t passes) {
  return static_cast<int>(
      std::min<std::int64_t>(tree::leaf_count(passes, warp_size) * warp_size, BlockLine::max_nodes));
}

}  // namespace invar::backends::cuda

namespace invar::tree {

template <>
struct RowKernels<Kokkos::Cuda> {
  template <class Body>
  static void map(const char* label, const Kokkos::Cuda& exec, const RowShape& shape, const schedule::Rows& chosen,
                  const Body& body) {
    using namespace backends::cuda;
    using Held = HeldRows<Body>;
    if (chosen.holds_row && shape.rows <= max_blocks / Held::Line::max_cluster) {
      if constexpr (Body::held_operands == 1 && Held::Group::vector * Body::element_bytes == 16 &&
                    Held::Group::passes <= 8)
        if (is_for_parts<Held>(exec, shape, chosen) && launch_parts(label, exec, shape.rows, shape.columns, body))
          return;
      if (Held::can_hold(exec, body, shape.columns)) return hold(label, exec, shape, body);
    }
    share(label, exec, shape, chosen, body);
  }

  template <class Body>
  static void reduce(const char* label, const Kokkos::Cuda& exec, const RowShape& shape, const schedule::Rows& chosen,
                     const Body& body) {
    using namespace backends::cuda;
    using Reduction = decltype(body.reduction);
    using Value = typename Reduction::value_type;
    using Passes = backends::cuda::Passes<std::remove_const_t<Reduction>>;
    if (chosen.holds_row || chosen.teams_per_row <= clipped_cluster(exec, 16) || shape.columns == 0)
      return share(label, exec, shape, chosen, body);
    const std::int64_t passes = Passes{body.reduction, 0, shape.columns}.count();
    // An aligned subtree a block: enough blocks to keep the device evenly busy, and work for each warp.
    constexpr int passes_per_block = 32;
    const std::int64_t subtrees = leaf_count(passes, passes_per_block);
    const StreamBuffer partial(exec, static_cast<std::size_t>(shape.rows * subtrees) * sizeof(Value));
    launch(label, exec,
           {dim3(static_cast<unsigned>(subtrees), static_cast<unsigned>(std::min<std::int64_t>(shape.rows, 65535))),
            dim3(static_cast<unsigned>(chosen.team_size)), BlockLine::shared_bytes(passes_per_block, sizeof(Value))},
           PartialRows<Reduction>{body.reduction, shape.rows, shape.columns, passes_per_block,
                                  partial.template as<Value>()});
    const int nodes = nodes_for(leaf_count(subtrees, warp_size));
    launch(label, exec,
           {dim3(static_cast<unsigned>(shape.rows)), dim3(512), BlockLine::shared_bytes(nodes, sizeof(Value))},
           FoldedRows<Body>{body, shape.rows, subtrees, nodes, partial.template as<Value>()});
  }

 private:
  /// True where the schedule asks for it, or where so many rows need several blocks each that a launch of clusters
  /// would come in waves.
  template <class Held>
  static bool is_for_parts(const Kokkos::Cuda& exec, const RowShape& shape, const schedule::Rows& chosen) {
    if (shape.rows == 0 || shape.columns == 0) return false;
    if (chosen.teams_per_row == 1) return true;
    const std::int64_t passes = Held::passes(shape.columns);
    return passes > Held::Line::max_warps && leaf_count(passes, Held::Line::max_warps) * shape.rows >
                                                 schedule::Backend<Kokkos::Cuda>::multiprocessors(exec);
  }

  /// A pass of leaves to each warp.
  template <class Body>
  static void hold(const char* label, const Kokkos::Cuda& exec, const RowShape& shape, const Body& body) {
    using Kernel = backends::cuda::HeldRows<Body>;
    constexpr int max_warps = Kernel::Line::max_warps;
    constexpr int max_cluster = Kernel::Line::max_cluster;
    const std::int64_t passes = Kernel::passes(shape.columns);
    // Few long rows are spread over more blocks than they need.
    const bool are_few = shape.rows * max_cluster <= schedule::Backend<Kokkos::Cuda>::multiprocessors(exec);
    const std::int64_t warps =
        std::min<std::int64_t>(passes > max_warps && are_few ? leaf_count(passes, max_cluster) : passes, max_warps);
    const int cluster = static_cast<int>(leaf_count(passes, warps));
    backends::cuda::launch(label, exec,
                           {dim3(static_cast<unsigned>(shape.rows * cluster)),
                            dim3(static_cast<unsigned>(warps * backends::cuda::warp_size)),
                            Kernel::Line::shared_bytes(Body::value_bytes), cluster},
                           Kernel{body, shape.columns, cluster});
  }

  template <class Body>
  static void share(const char* label, const Kokkos::Cuda& exec, const RowShape& shape, const schedule::Rows& asked,
                    const Body& body) {
    using namespace backends::cuda;
    const schedule::Rows& chosen = asked.holds_row ? schedule::RowsSchedules<Kokkos::Cuda>::choose_shared(
                                                         exec, shape.rows, leaf_count(shape.columns, shape.leaf))
                                                   : asked;
    const int wanted = shape.columns == 0 ? 1 : chosen.teams_per_row > 16 ? 8 : chosen.teams_per_row;
    const int cluster = clipped_cluster(exec, wanted);
    if (chosen.team_size <= warp_size || shape.rows > max_blocks / cluster) {
      const std::int64_t blocks = leaf_count(shape.rows, WarpRows<Body>::max_threads / warp_size);
      return launch(label, exec, {dim3(static_cast<unsigned>(blocks)), dim3(WarpRows<Body>::max_threads)},
                    WarpRows<Body>{body, shape.rows, shape.columns});
    }
    const int nodes = nodes_for(leaf_count(shape.columns, shape.leaf));
    launch(label, exec,
           {dim3(static_cast<unsigned>(shape.rows * cluster)), dim3(static_cast<unsigned>(chosen.team_size)),
            BlockLine::shared_bytes(nodes, Body::value_bytes), cluster},
           BlockRows<Body>{body, shape.rows, shape.columns, nodes, cluster});
  }
};

}  // namespace invar::tree

#endif
