// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The CUDA kernel of matmul on Hopper's matrix unit for so few tiles that several blocks share one: each computes some
/// of its leaves.
#ifndef INVAR_BACKENDS_CUDA_MATRIX_LARGE_SPLIT_HPP
#define INVAR_BACKENDS_CUDA_MATRIX_LARGE_SPLIT_HPP

#include <invar/backends/cuda/matrix_large_kernel.hpp>

#include <cstdint>

namespace invar::backends::cuda::gemm {

/// The kernel. The blocks of a cluster take a tile's leaves in ascending order, each about as many. In the end every
/// block lays its chains into its own shared memory, where the ring was, and every block joins some columns' chains of
/// all blocks, in the order of the leaves.
///
/// \tparam Leaves  of a block, at most: a block's first chain is held in registers while it computes the second
/// \tparam Plain   as for MatmulLarge
template <class A, class B, Major MajorB, class Shape, int Ranks, int Leaves, bool Plain>
struct MatmulLargeSplit {
  static constexpr int max_threads = Shape::threads, min_blocks = 1;
  using waits_itself = void;
  static_assert(Leaves == 1 || Leaves == 2);
  static_assert(Shape::block == 32 && Shape::parked == 0 && !Shape::lags);
  static_assert(Leaves * Shape::rows * Shape::columns * 4 <= Shape::stages * Shape::stage_bytes,
                "Invar: the chains must fit where the ring was");

  CUtensorMap a, b;
  LargeOutput output;
  int k;
  int leaf_stages;  ///< stages of a leaf
  LargeOrder order;
  unsigned tiles;
  int leaves = 0;

  __device__ void operator()() const {
    if constexpr (!has_wgmma()) {
      // By its static shared memory the host knows what this code is: see has_large_code().
      __shared__ volatile int lacks_wgmma;
      lacks_wgmma = 1;
      __trap();
    } else {
      extern __shared__ __align__(1024) unsigned char matrix_large_shared[];
      const std::uint32_t shared = shared_address(matrix_large_shared);
      const int warp = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / 32, 0);
      const Ring ring(opaque(shared + Shape::ring_offset()));
      const int rank = static_cast<int>(cluster_rank());
      const LargePosition at = order.template position<Shape>(blockIdx.x / Ranks);
      if (warp >= 4 * Shape::groups) {
        LargeFeed<MajorB, Shape>::begin_block(ring, shared, a, b, warp == 4 * Shape::groups);
        if constexpr (Shape::groups > 1) leave_registers<24>();
        if (warp == 4 * Shape::groups) feed(ring, shared, rank, at);
        // Later its threads have ended, and the others' barriers do not wait for them.
      } else {
        LargeFeed<MajorB, Shape>::await_begin();
        if constexpr (Shape::groups > 1) claim_registers<240>();
        const int group = warp / 4;
        LargeStorer<LargePacked<A>, Shape> storer(output, shared, group);
        if constexpr (!Plain) storer.fetch_bias(at.column);
        multiply(ring, matrix_large_shared, rank, group);
        // Then all blocks' chains are laid out, and the bias with them.
        arrive_in_cluster();
        wait_in_cluster();
        if constexpr (Plain) {
          join_plain(shared, rank, group, at);
        } else {
          join(storer, shared, rank, group, at);
          arrive_in_cluster();
          wait_in_cluster();
          storer.finish();
        }
      }
    }
  }

 private:
  using Ring = typename Shape::Ring;
  static constexpr int values = Shape::columns / 2, block_values = Shape::block_values;

  /// Waits, in two steps, for all threads of the cluster that have not ended. Stores before it are seen after it, in
  /// all blocks.
  static __device__ void arrive_in_cluster() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
#endif
  }
  static __device__ void wait_in_cluster() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
  }
  static __device__ std::uint32_t cluster_rank() {
    std::uint32_t rank = 0;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#endif
    return rank;
  }

  /// The first leaf of a block.
  __device__ int first_leaf(int rank) const { return rank * leaves / Ranks; }
  /// Whether a block lays out two chains. The first block adds its own up.
  __device__ bool has_two(int rank) const {
    return Leaves == 2 && rank > 0 && first_leaf(rank + 1) - first_leaf(rank) == 2;
  }

  __device__ void feed(Ring ring, std::uint32_t shared, int rank, LargePosition at) const {
    const bool acts = is_elected();
    const int begin = first_leaf(rank) * leaf_stages * Shape::depth;
    const int past = first_leaf(rank + 1) * leaf_stages * Shape::depth, end = past < k ? past : k;
#pragma unroll 1
    for (int k0 = begin; k0 < end; k0 += Shape::depth) LargeFeed<MajorB, Shape>::fill(ring, shared, a, b, at, k0, acts);
  }

  /// Where a block's chain of a block of columns lies: 16 bytes of a thread, four values, from there.
  static __device__ std::uint32_t place(std::uint32_t shared, int chain, int group, int block) {
    const int index = (chain * Shape::groups + group) * Shape::blocks + block;
    return shared + static_cast<std::uint32_t>(index * (64 * Shape::block * 4)) + threadIdx.x % 128 * 16;
  }
  static constexpr int four_bytes = 128 * 16;  ///< to the same thread's next four values

  __device__ void multiply(Ring ring, const unsigned char* shared, int rank, int group) const {
    const int all = (k + Shape::depth - 1) / Shape::depth;
    const int past = first_leaf(rank + 1) * leaf_stages;
    int left = (past < all ? past : all) - first_leaf(rank) * leaf_stages;
    LargeProducts<A, B, MajorB, Shape> products(ring, shared, group, all);

    float chain[values], first[Leaves == 1 ? 1 : values];
    leave_undefined(chain);
    leave_undefined(first);
    bool has_second = false;
#pragma unroll 1
    for (;;) {
      const int count = left < leaf_stages ? left : leaf_stages;
      products.begin(chain, count, false);
      products.complete(chain, count, [](int) {});
      left -= count;
      if (Leaves == 1 || left <= 0) break;
      has_second = true;
      // As an instruction: the compiler would have both in the same registers, and wait for every product.
#pragma unroll
      for (int i = 0; i < static_cast<int>(sizeof first / sizeof(float)); ++i)
        asm volatile("mov.f32 %0, %1;" : "=f"(first[i]) : "f"(chain[i]));
    }
    // No group multiplies any more.
    if constexpr (Shape::groups > 1)
      asm volatile("bar.sync 3, %0;" ::"n"(128 * Shape::groups) : "memory");
    else
      wait_for_group(group);
    const std::uint32_t base = shared_address(shared);
    if constexpr (Leaves == 2) {
      if (has_second && rank == 0) {
#pragma unroll
        for (int i = 0; i < values; ++i) chain[i] = num::add(first[i], chain[i]);
      } else if (has_second) {
        lay_out(base, 0, group, first);
      }
    }
    lay_out(base, has_two(rank) ? 1 : 0, group, chain);
  }

  static __device__ void lay_out(std::uint32_t shared, int index, int group, const float (&chain)[values]) {
#pragma unroll
    for (int block = 0; block < Shape::blocks; ++block) {
      const std::uint32_t to = place(shared, index, group, block);
#pragma unroll
      for (int v = 0; v < block_values; v += 4) {
        const float* const four = chain + block * block_values + v;
        asm volatile(
            "st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(to + static_cast<std::uint32_t>(v / 4) * four_bytes),
            "f"(four[0]), "f"(four[1]), "f"(four[2]), "f"(four[3])
            : "memory");
      }
    }
  }

  __device__ void join(LargeStorer<LargePacked<A>, Shape>& storer, std::uint32_t shared, int rank, int group,
                       LargePosition at) const {
#pragma unroll 1
    for (int block = rank; block < Shape::blocks; block += Ranks) {
      float sums[block_values];
      join_block(sums, shared, group, block);
      const int offset = block * Shape::block;
      storer.store(sums, at.row + group * 64, at.column + offset, offset);
    }
  }

  /// The same for all of the block's columns at once, from registers to c: the way through the boxes would take longer.
  __device__ void join_plain(std::uint32_t shared, int rank, int group, LargePosition at) const {
    using T = LargePacked<A>;
    constexpr int count = (Shape::blocks + Ranks - 1) / Ranks, words = block_values / 2;
    std::uint32_t packed[count * words];
#pragma unroll
    for (int i = 0; i < count; ++i) {
      const int block = rank + i * Ranks;
      float sums[block_values];
      join_block(sums, shared, group, block < Shape::blocks ? block : rank % Shape::blocks);
#pragma unroll
      for (int w = 0; w < words; ++w) packed[i * words + w] = rounded_pair<T>(sums[2 * w], sums[2 * w + 1]);
    }
    // The others' chains have been read.
    arrive_in_cluster();
    LargeBoxes<T, Shape>::make_canonical(packed);
    const int thread = static_cast<int>(threadIdx.x) % 128, lane = thread % 32;
    const std::int64_t row = at.row + group * 64 + thread / 32 * 16 + lane / 4;
    T* const to = static_cast<T*>(output.out.c) + row * output.out.row_stride + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < count; ++i) {
      const int block = rank + i * Ranks;
#pragma unroll
      for (int w = 0; w < words; ++w) {
        const int column = at.column + block * Shape::block + w / 2 * 8;
        if (block < Shape::blocks && row + w % 2 * 8 < output.out.m && column < output.out.n)
          *reinterpret_cast<std::uint32_t*>(to + w % 2 * 8 * output.out.row_stride + column) = packed[i * words + w];
      }
    }
    wait_in_cluster();
  }

  /// The sums of a block of columns.
  __device__ void join_block(float (&sums)[block_values], std::uint32_t shared, int group, int block) const {
#pragma unroll
    for (int v = 0; v < block_values; ++v) sums[v] = -0.0f;
#pragma unroll
    for (int from = 0; from < Ranks; ++from) {
      add_chain(sums, place(shared, 0, group, block), from, true);
      // Read in any case, for the sake of straight code.
      if (Leaves == 2 && from > 0) add_chain(sums, place(shared, 1, group, block), from, has_two(from));
    }
  }

  /// Adds a chain in the shared memory of another block of the cluster, or of this one.
  static __device__ void add_chain(float (&sums)[block_values], std::uint32_t place, int rank, bool exists) {
    std::uint32_t from = 0;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(from) : "r"(place), "r"(rank));
#endif
#pragma unroll
    for (int v = 0; v < block_values; v += 4) {
      float four[4] = {};
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
      asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
                   : "=f"(four[0]), "=f"(four[1]), "=f"(four[2]), "=f"(four[3])
                   : "r"(from + static_cast<std::uint32_t>(v / 4) * four_bytes)
                   : "memory");
#endif
#pragma unroll
      for (int i = 0; i < 4; ++i) sums[v + i] = exists ? num::add(sums[v + i], four[i]) : sums[v + i];
    }
  }
};

}  // namespace invar::backends::cuda::gemm

#endif
