// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The description of a step, where the kernels read it.
#ifndef SERVE_BATCH_HPP
#define SERVE_BATCH_HPP

#include "engine.hpp"
#include "views.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>

namespace serve {

/// The sizes of a step.
struct StepShape {
  std::size_t slices = 0;
  std::size_t tokens = 0;
  std::size_t wanted = 0;  ///< tokens whose logits are wanted

  /// True where every sequence has one token and wants the next: then the shape is a single number.
  bool is_decode() const { return tokens == slices && wanted == slices; }
};

inline StepShape shape_of(std::span<const Slice> slices) {
  StepShape shape{slices.size()};
  for (const Slice& slice : slices) {
    shape.tokens += slice.tokens.size();
    shape.wanted += slice.wants_logits ? 1 : 0;
  }
  return shape;
}

/// Where each token of a step belongs.
template <class Exec>
struct Batch {
  List<int, Exec> token_ids;    ///< [tokens]
  List<int, Exec> positions;    ///< [tokens]
  List<int, Exec> cache_rows;   ///< [tokens], of the token's own key and value: page · page size + slot
  List<int, Exec> query_begin;  ///< [slices + 1]
  List<int, Exec> kv_length;    ///< [slices]
  List<int, Exec> logit_rows;   ///< [wanted], tokens
  Rows<int, Exec> page_table;   ///< [slices, pages of a sequence]; zeros behind a sequence's own
};

/// All numbers of a batch in one piece, so that one copy takes them to a device. Steps of one shape find their batch at
/// the same address.
template <class Exec>
class BatchBuffer {
 public:
  /// Makes room for a step; true where the memory moved.
  bool reserve(const StepShape& shape, std::size_t sequence_pages) {
    const std::size_t size = lay_out<Exec>(nullptr, shape, sequence_pages).size;
    if (size <= numbers_.device.extent(0)) return false;
    numbers_ = Staged(List<int, Exec>(uninitialized("batch"), std::bit_ceil(size)));
    return true;
  }

  /// Describes a step for which there is room, in stream order. The step before it must be done.
  Batch<Exec> write(const Exec& exec, std::span<const Slice> slices, const CacheShape& cache) const {
    const StepShape shape = shape_of(slices);
    const auto host = lay_out<HostMemory>(numbers_.host.data(), shape, cache.sequence_pages);
    fill(host.batch, slices, cache.page_size);
    numbers_.first(host.size).to_device(exec);
    return lay_out<Exec>(numbers_.device.data(), shape, cache.sequence_pages).batch;
  }

 private:
  using HostMemory = Kokkos::DefaultHostExecutionSpace;

  template <class Space>
  struct Layout {
    Batch<Space> batch;
    std::size_t size;
  };

  /// The parts of a batch one behind the other, each at a multiple of 128 bytes.
  template <class Space>
  static Layout<Space> lay_out(int* memory, const StepShape& shape, std::size_t sequence_pages) {
    std::size_t size = 0;
    const auto take = [&](std::size_t count) {
      int* const part = memory == nullptr ? nullptr : memory + size;
      size += (count + 31) / 32 * 32;
      return part;
    };
    const auto list = [&](std::size_t count) { return List<int, Space>(take(count), count); };
    Batch<Space> batch{list(shape.tokens),
                       list(shape.tokens),
                       list(shape.tokens),
                       list(shape.slices + 1),
                       list(shape.slices),
                       list(shape.wanted),
                       {}};
    batch.page_table = Rows<int, Space>(take(shape.slices * sequence_pages), shape.slices, sequence_pages);
    return {batch, size};
  }

  static void fill(const Batch<HostMemory>& batch, std::span<const Slice> slices, std::size_t page_size) {
    std::size_t token = 0, row = 0;
    batch.query_begin(0) = 0;
    for (std::size_t s = 0; s < slices.size(); ++s) {
      const Slice& slice = slices[s];
      for (std::size_t i = 0; i < slice.tokens.size(); ++i, ++token) {
        const std::size_t position = slice.first_position + i;
        const auto page = static_cast<std::size_t>(slice.pages[position / page_size]);
        batch.token_ids(token) = slice.tokens[i];
        batch.positions(token) = static_cast<int>(position);
        batch.cache_rows(token) = static_cast<int>(page * page_size + position % page_size);
      }
      batch.query_begin(s + 1) = static_cast<int>(token);
      batch.kv_length(s) = static_cast<int>(slice.first_position + slice.tokens.size());
      for (std::size_t p = 0; p < batch.page_table.extent(1); ++p)
        batch.page_table(s, p) = p < slice.pages.size() ? slice.pages[p] : 0;
      if (slice.wants_logits) batch.logit_rows(row++) = static_cast<int>(token) - 1;
    }
  }

  Staged<List<int, Exec>> numbers_;
};

}  // namespace serve

#endif
