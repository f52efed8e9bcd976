// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// A leaf of a row contract, evaluated by a group of threads of one warp: the GPU's counterpart of
/// tree::SequentialLeaf.
#ifndef INVAR_BACKENDS_CUDA_LEAF_GROUP_HPP
#define INVAR_BACKENDS_CUDA_LEAF_GROUP_HPP

#include <invar/backends/cuda/tile.hpp>
#include <invar/backends/cuda/warp.hpp>
#include <invar/tree/lanes.hpp>

#include <cstdint>

namespace invar::backends::cuda {

/// Thread t of the group holds lanes t·vector … t·vector + vector − 1, so that it loads 16 neighbouring bytes and the
/// group reads without gaps. All lanes of the warp take part, those whose leaf is empty as well.
///
/// \tparam Contract      a contract::Rows
/// \tparam ElementBytes  bytes of the narrowest operand
template <class Contract, int ElementBytes>
class LeafGroup {
  static constexpr int lanes = Contract::lanes;
  static constexpr int wanted = ElementBytes >= 16 ? 1 : 16 / ElementBytes;
  static constexpr int most = wanted < lanes ? wanted : lanes;

 public:
  static constexpr int vector = most * warp_size < lanes ? lanes / warp_size : most;
  static constexpr int threads = lanes / vector;
  /// Leaves that a warp evaluates at once.
  static constexpr int groups = warp_size / threads;
  static constexpr int passes = Contract::leaf / lanes;
  /// Columns from one pass of a thread to the next.
  static constexpr int stride = lanes;
  /// Passes whose loads are under way together: enough to cover the memory's latency, few enough to leave registers for
  /// more warps. A second fold reads the leaf again, from the first-level cache.
  static constexpr int batch = passes < 4 ? passes : 4;

  /// Elements [begin, end) of a row; none where end ≤ begin.
  KOKKOS_FORCEINLINE_FUNCTION LeafGroup(std::int64_t row, std::int64_t begin, std::int64_t end)
      : row_(row),
        first_(begin + lane() % threads * vector),
        left_(end > first_ ? static_cast<int>(end - first_) : 0) {}

  /// The leaf's elements of one operand.
  template <class Operand>
  class Elements {
   public:
    KOKKOS_FORCEINLINE_FUNCTION Elements(const LeafGroup& leaf, const Operand& operand)
        : operand_(operand), row_(leaf.row_) {}
    KOKKOS_FORCEINLINE_FUNCTION bool is_vector() const { return Tile<Operand, vector>::is_vector(operand_, row_); }
    /// Reads the vector at column i into place b of the batch.
    KOKKOS_FORCEINLINE_FUNCTION void load(int b, std::int64_t i) { tile_[b].load(operand_, row_, i); }
    KOKKOS_FORCEINLINE_FUNCTION typename Operand::value_type get(int b, int v) const { return tile_[b].get(v); }
    KOKKOS_FORCEINLINE_FUNCTION typename Operand::value_type at(std::int64_t i) const { return operand_(row_, i); }

   private:
    const Operand& operand_;
    std::int64_t row_;
    Tile<Operand, vector> tile_[batch];
  };

  template <class Operand>
  KOKKOS_FORCEINLINE_FUNCTION Elements<Operand> load(const Operand& operand) const {
    return Elements<Operand>(*this, operand);
  }

  /// The leaf's value in every thread of the group; see tree::SequentialLeaf.
  template <class Value, class Step, class Join, class... Operand>
  KOKKOS_FORCEINLINE_FUNCTION Value fold(Value identity, const Step& step, const Join& join,
                                         const Elements<Operand>&... elements) const {
    Value value[vector];
    INVAR_UNROLL
    for (int v = 0; v < vector; ++v) value[v] = identity;
    if ((... && elements.is_vector())) {
      for (int p = 0; p < passes; p += batch) steps(value, p, step, elements...);
      // A vector that the row's end cuts is the last one of its thread.
      const int whole = left_ / lanes * lanes + (left_ % lanes >= vector ? lanes : 0);
      single_steps(value, whole, step, elements...);
    } else {
      INVAR_NO_UNROLL
      for (int done = 0; done < left_; done += lanes) single_steps(value, done, step, elements...);
    }
    return join_lanes(value, join);
  }

  /// The stride-halving tree. While a thread holds several lanes, the two threads of a pair share the joins of their
  /// lanes: each gives away half of its values and keeps the other half. What a thread holds then is told by its
  /// number's upper bits, through which the last strides are joined.
  template <class Value, class Join>
  KOKKOS_FORCEINLINE_FUNCTION static Value join_lanes(Value* value, const Join& join) {
    // Lane strides lanes/2 … vector lie between threads.
    constexpr int shared = vector < threads ? vector : threads;  // after log2(shared) exchanges, vector/shared are held
    share<threads / 2, vector>(value, join);
    constexpr int held = vector / shared;
    INVAR_UNROLL
    for (int distance = threads / shared / 2; distance > 0; distance /= 2)
      value[0] = join_pair(value[0], exchange(value[0], distance), distance, join);
    // Lane strides vector/2 … held lie between the threads that shared, the lower ones inside a thread.
    INVAR_UNROLL
    for (int distance = threads / 2; distance >= threads / shared && distance > 0; distance /= 2)
      for (int v = 0; v < held; ++v) value[v] = join_pair(value[v], exchange(value[v], distance), distance, join);
    tree::halve_strides<held / 2>(value, join);
    return value[0];
  }

 private:
  /// Passes first … first + batch − 1.
  template <class Value, class Step, class... Operand>
  KOKKOS_FORCEINLINE_FUNCTION void steps(Value* value, int first, const Step& step,
                                         Elements<Operand>... elements) const {
    INVAR_UNROLL
    for (int b = 0; b < batch; ++b)
      if (has(first + b)) (elements.load(b, first_ + static_cast<std::int64_t>(first + b) * lanes), ...);
    INVAR_UNROLL
    for (int b = 0; b < batch; ++b)
      if (has(first + b)) {
        INVAR_UNROLL
        for (int v = 0; v < vector; ++v)
          value[v] = step(value[v], first_ + static_cast<std::int64_t>(first + b) * lanes + v, elements.get(b, v)...);
      }
  }

  /// The vector that begins `done` columns on, element by element, as far as the leaf goes.
  template <class Value, class Step, class... Operand>
  KOKKOS_FORCEINLINE_FUNCTION void single_steps(Value* value, int done, const Step& step,
                                                const Elements<Operand>&... elements) const {
    const int rest = left_ - done;
    if (rest <= 0) return;
    INVAR_UNROLL
    for (int v = 0; v < vector; ++v)
      if (v < rest) value[v] = step(value[v], first_ + done + v, elements.at(first_ + done + v)...);
  }

  /// True where the thread's vector of pass p lies wholly before the end.
  KOKKOS_FORCEINLINE_FUNCTION bool has(int p) const { return left_ - p * lanes >= vector; }

  template <int Distance, int Held, class Value, class Join>
  KOKKOS_FORCEINLINE_FUNCTION static void share(Value* value, const Join& join) {
    if constexpr (Distance > 0 && Held > 1) {
      const bool is_lower = (lane() & Distance) == 0;
      INVAR_UNROLL
      for (int v = 0; v < Held / 2; ++v) {
        // Copies, because a choice between two places in memory would keep the array out of registers.
        const Value low = value[v], high = value[v + Held / 2];
        const Value kept = is_lower ? low : high;
        const Value given = is_lower ? high : low;
        value[v] = join_pair(kept, exchange(given, Distance), Distance, join);
      }
      share<Distance / 2, Held / 2>(value, join);
    }
  }

  std::int64_t row_;
  std::int64_t first_;  // the thread's first column
  int left_;            // columns from there to the leaf's end
};

}  // namespace invar::backends::cuda

#endif
