// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The stream of a tile's keys or values through a ring of stages in shared memory.
#ifndef INVAR_BACKENDS_CUDA_ATTENTION_RING_HPP
#define INVAR_BACKENDS_CUDA_ATTENTION_RING_HPP

#include <invar/backends/cuda/attention_copy.hpp>
#include <invar/backends/cuda/attention_work.hpp>

#include <cstdint>

namespace invar::backends::cuda::attn {

/// Keys come panel by panel, each panel in pieces of `key_width` elements of the head; values in pieces of `value_rows`
/// positions. While a stage is used, the next ones are on their way. All threads of a group call together.
template <class Shape, class Scalar, class K, class V, bool Keys>
class Ring {
  static constexpr int panel = Shape::panel;
  static constexpr int stages = Keys ? Shape::key_stages : Shape::value_stages;
  static constexpr int barrier = Keys ? key_barrier : value_barrier;

 public:
  /// Begins the copies of the first stages.
  __device__ __forceinline__ Ring(const Work<Scalar, K, V>& work, unsigned char* shared, int thread)
      : work(work),
        ring(shared + (Keys ? 0 : Shape::values_at)),
        offsets(reinterpret_cast<std::int64_t*>(shared + (Keys ? Shape::key_offsets_at : Shape::value_offsets_at))),
        thread(thread),
        position(work.begin),
        pending(offset()) {
    const int width = work.a.head_dim;
    pieces = width <= Shape::key_width ? 1 : (width + Shape::key_width - 1) / Shape::key_width;
    value_pitch = Shape::value_pitch(work.a.value_dim);
    value_rows = Shape::value_rows(work.a.value_dim);
#pragma unroll 1
    for (int i = 0; i < stages - 1; ++i) {
      write_offsets();
      sync_group<Shape>(barrier);
      issue();
    }
  }

  /// The next stage, which stays until the call after this one.
  __device__ __forceinline__ const unsigned char* next() {
    const unsigned char* const stage = ring + used * Shape::stage_bytes;
    used = used + 1 < stages ? used + 1 : 0;
    copy_wait<stages - 2>();
    write_offsets();
    sync_group<Shape>(barrier);
    issue();
    return stage;
  }

  /// Pieces of a panel of keys.
  int pieces;
  int value_pitch, value_rows;

 private:
  /// Where the row begins that this thread looks up for the panel at `position`; 0 where there is none.
  __device__ __forceinline__ std::int64_t offset() const {
    const int mine = position + thread;
    if (thread >= panel || mine >= work.end) return 0;
    std::int64_t page = work.part.request;
    int slot = mine;
    if (work.a.paged) {
      const auto size = static_cast<unsigned>(work.a.page_size);
      const unsigned index = static_cast<unsigned>(mine) / size;
      slot = static_cast<int>(static_cast<unsigned>(mine) - index * size);
      page = work.a.page_table(page, index);
    }
    const auto at = [&](const auto& cache) {
      return page * cache.page + slot * cache.position + work.kv_head * cache.head;
    };
    if constexpr (Keys)
      return at(work.a.k);
    else
      return at(work.a.v);
  }

  /// Panels take turns with two lists of offsets: the one before may still be in use.
  __device__ __forceinline__ void write_offsets() {
    if (piece > 0) return;
    list ^= 1;
    if (thread < panel) offsets[list * panel + thread] = pending;
  }

  /// Begins to copy the next stage, if there is one.
  __device__ __forceinline__ void issue() {
    if (position < work.end) {
      unsigned char* const to = ring + issued * Shape::stage_bytes;
      const std::int64_t* const from = offsets + list * panel;
      const int left = smaller(panel, work.end - position);
      bool panel_done;
      if constexpr (Keys) {
        const int first = piece * Shape::key_width;
        copy_keys<Shape::group>(to, work.a.k, from, left, first, smaller(Shape::key_width, work.a.head_dim - first),
                                thread);
        panel_done = ++piece == pieces;
      } else {
        const int first = piece * value_rows;
        copy_values<Shape::group>(to, value_pitch, work.a.v, from + first, smaller(value_rows, left - first),
                                  work.a.value_dim, work.a.value_spread, thread);
        panel_done = ++piece * value_rows >= left;
      }
      issued = issued + 1 < stages ? issued + 1 : 0;
      if (panel_done) {
        piece = 0;
        position += panel;
        pending = offset();
      }
    }
    copy_commit();
  }

  const Work<Scalar, K, V>& work;
  unsigned char* const ring;
  std::int64_t* const offsets;
  const int thread;
  int position;
  std::int64_t pending;
  int piece = 0, issued = 0, used = 0, list = 1;
};

}  // namespace invar::backends::cuda::attn

#endif
