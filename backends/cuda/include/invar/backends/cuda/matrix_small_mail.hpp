// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// How the blocks of a cluster share the leaves of a tile, and join them in ascending order.
#ifndef INVAR_BACKENDS_CUDA_MATRIX_SMALL_MAIL_HPP
#define INVAR_BACKENDS_CUDA_MATRIX_SMALL_MAIL_HPP

#include <invar/backends/cuda/cluster_mail.hpp>
#include <invar/backends/cuda/matrix_small_plan.hpp>
#include <invar/num/arithmetic.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace invar::backends::cuda::small {

/// How the blocks of a cluster join the leaves of a tile in ascending order.
template <class Shape>
class LeafMail {
 public:
  static constexpr int registers = Shape::registers;
  static constexpr int parts = Shape::column_tile / 8;

  /// Bytes of shared memory for what a block receives.
  static int bytes(const LeafShares& s) { return s.cluster == 1 ? 0 : s.slots * s.parts * slot_bytes; }

  /// All threads of the cluster construct it together.
  /// \param is_used  else it does nothing
  __device__ LeafMail(unsigned char* barriers, unsigned char* received, const LeafShares& shares, bool is_used)
      : mail_(reinterpret_cast<char*>(barriers), is_used ? shares.cluster : 1), received_(received), shares_(shares) {}

  /// The warps that multiply call it together before the first send().
  __device__ void begin(int rank) {
    mail_.begin(static_cast<std::uint32_t>(parts_of(rank) * shares_.slots * slot_bytes));
  }
  __device__ int parts_of(int rank) const { return shares_.parts - (rank < shares_.blocks_with_all ? 0 : 1); }
  /// The other warps call it in the end: every thread that arrived at the start of the cluster waits for it.
  __device__ void leave() const {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
#endif
  }

  /// Sends the sum of block 0's leaves.
  __device__ void send_first(const float (&values)[registers]) const { send(values, 0); }
  /// Sends the chain of a leaf of another block.
  __device__ void send_leaf(const float (&values)[registers], int leaf) const {
    send(values, 1 + leaf - shares_.first_leaf[1]);
  }

  /// Receives the sums of the block's parts, in ascending order: the thread's four outputs of each.
  __device__ void receive(int rank, float (&sums)[registers]) const {
    mail_.wait();
    float mine[4 * most_parts];
#pragma unroll 1
    for (int i = 0, part = rank; i < most_parts; ++i, part += shares_.cluster) {
      float4 sum = make_float4(0, 0, 0, 0);
      if (part < parts) {
        sum = *at(0, i);
#pragma unroll 1
        for (int slot = 1; slot < shares_.slots; ++slot) {
          const float4 next = *at(slot, i);
          sum.x = num::add(sum.x, next.x);
          sum.y = num::add(sum.y, next.y);
          sum.z = num::add(sum.z, next.z);
          sum.w = num::add(sum.w, next.w);
        }
      }
      // The i-th is at its place after the last turn.
#pragma unroll
      for (int r = 0; r < 4 * most_parts - 4; ++r) mine[r] = mine[r + 4];
      mine[4 * most_parts - 4] = sum.x;
      mine[4 * most_parts - 3] = sum.y;
      mine[4 * most_parts - 2] = sum.z;
      mine[4 * most_parts - 1] = sum.w;
    }
#pragma unroll
    for (int r = 0; r < 4 * most_parts; ++r) sums[r] = mine[r];
  }

 private:
  static constexpr int most_parts = (parts + 1) / 2;  // of a block
  static constexpr int slot_bytes = Shape::warps * 32 * static_cast<int>(sizeof(float4));

  /// The place of the thread's values of the block's i-th part.
  __device__ float4* at(int slot, int i) const {
    return reinterpret_cast<float4*>(received_ + (slot * shares_.parts + i) * slot_bytes) + threadIdx.x;
  }
  __device__ void send(const float (&values)[registers], int slot) const {
    int rank = 0, i = 0;
#pragma unroll
    for (int part = 0; part < parts; ++part) {
      const float* const v = values + 4 * part;
      mail_.send(at(slot, i), make_float4(v[0], v[1], v[2], v[3]), rank);
      if (++rank == shares_.cluster) {
        rank = 0;
        ++i;
      }
    }
  }

  ClusterMail mail_;
  unsigned char* received_;
  const LeafShares& shares_;
};

}  // namespace invar::backends::cuda::small

#endif
