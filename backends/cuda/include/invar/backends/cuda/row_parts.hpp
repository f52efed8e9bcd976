// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Many long rows in one launch: every row is cut into parts, and each part stays in shared memory from its reduction
/// to its map, while others are reduced.
#ifndef INVAR_BACKENDS_CUDA_ROW_PARTS_HPP
#define INVAR_BACKENDS_CUDA_ROW_PARTS_HPP

#include <invar/backends/cuda/launch.hpp>
#include <invar/backends/cuda/part_turns.hpp>
#include <invar/backends/cuda/stream_buffer.hpp>

#include <cstdint>

namespace invar::backends::cuda {

/// The kernel, for a body with one reduction, Body::Statistics. All blocks run at the same time (a cooperative launch),
/// so that one may wait for another: for the parts of the same row, which are reduced in the same turn. The rows may be
/// read as soon as ClearFlags has started, which waits for whoever wrote them.
template <class Body>
struct PartRows {
  using waits_itself = void;
  using Turns = PartTurns<Body>;
  using Value = typename Body::Statistics::value_type;
  static constexpr int max_threads = Turns::threads;
  static constexpr int min_blocks = 2;
  static constexpr int max_parts = warp_size;
  Body body;
  std::int64_t rows, columns;
  int parts;
  PartsBoard<Value> board;

  __device__ void operator()() const {
    extern __shared__ __align__(16) uint4 places[];
    __shared__ typename Turns::Shared shared;
    Turns(body, rows, columns, parts, board, places, shared).run();
  }
};

/// Parts of a row of so many columns.
template <class Body>
std::int64_t part_count(std::int64_t columns) {
  using Group = LeafGroup<typename Body::contract, Body::element_bytes>;
  return tree::leaf_count(HeldPass<Group>::count(columns, Body::contract::leaf), PartTurns<Body>::workers);
}

/// How many whole rows to work on at a time, of which `resident` blocks have a part each: as few turns as can be, each
/// as long as the multiprocessor with the most blocks takes. A block alone would wait for memory. 0 where not even a
/// row's parts can run at a time.
inline std::int64_t rows_of_a_turn(std::int64_t rows, std::int64_t parts, std::int64_t resident,
                                   std::int64_t multiprocessors) {
  std::int64_t best = 0, least = 0;
  for (std::int64_t blocks = resident / multiprocessors; blocks > 0; --blocks) {
    const std::int64_t most = blocks * multiprocessors / parts;
    if (most == 0 || (blocks == 1 && best > 0)) break;
    const std::int64_t turns = tree::leaf_count(rows, most);
    if (best > 0 && turns * blocks >= least) continue;
    least = turns * blocks;
    best = tree::leaf_count(rows, turns);
  }
  return best;
}

/// Cuts the rows and launches the kernel, if that is possible here.
template <class Body>
bool launch_parts(const char* label, const Kokkos::Cuda& exec, std::int64_t rows, std::int64_t columns,
                  const Body& body) {
  using Kernel = PartRows<Body>;
  using Group = LeafGroup<typename Body::contract, Body::element_bytes>;
  const std::int64_t parts = part_count<Body>(columns);
  if (parts > Kernel::max_parts || rows > (std::int64_t{1} << 30) / parts || columns % Group::vector != 0 ||
      !body.every_operand(IsVectorEverywhere<Group::vector>()))
    return false;
  const std::int64_t tasks = rows * parts;
  LaunchShape shape{dim3(1), dim3(Kernel::max_threads), Kernel::Turns::shared_bytes};
  shape.cooperative = true;
  const std::int64_t together = rows_of_a_turn(rows, parts, resident_blocks<Kernel>(label, exec, shape),
                                               exec.cuda_device_prop().multiProcessorCount);
  if (together == 0) return false;
  shape.grid = dim3(static_cast<unsigned>(together * parts));
  const StreamBuffer memory(exec, PartsBoard<typename Kernel::Value>::bytes(tasks));
  const PartsBoard<typename Kernel::Value> board(memory.template as<void>(), tasks);
  launch(label, exec,
         {dim3(static_cast<unsigned>(tree::leaf_count(tasks, ClearFlags::max_threads))), dim3(ClearFlags::max_threads)},
         ClearFlags{board.flags(), tasks});
  launch(label, exec, shape, Kernel{body, rows, columns, static_cast<int>(parts), board});
  return true;
}

}  // namespace invar::backends::cuda

#endif
