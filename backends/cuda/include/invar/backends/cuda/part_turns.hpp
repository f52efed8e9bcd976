// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What a block does when rows are worked on in parts.
#ifndef INVAR_BACKENDS_CUDA_PART_TURNS_HPP
#define INVAR_BACKENDS_CUDA_PART_TURNS_HPP

#include <invar/backends/cuda/held_pass.hpp>
#include <invar/backends/cuda/launch.hpp>
#include <invar/backends/cuda/parts_board.hpp>

#include <cstddef>
#include <cstdint>

namespace invar::backends::cuda {

/// A pass in shared memory, where each thread has places of its own, so that no barrier guards them.
template <class Operand, int V>
struct HeldInShared {
  using value_type = typename Operand::value_type;
  using storage_type = typename Operand::storage_type;
  static constexpr int element_bytes = Operand::element_bytes;
  static_assert(V * sizeof(storage_type) == 16);
  uint4* place;  ///< of the thread's first vector
  int threads;   ///< places from one vector to the next

  KOKKOS_FORCEINLINE_FUNCTION Tile<Operand, V> tile(int p) const {
    Tile<Operand, V> tile;
    tile.load(reinterpret_cast<const storage_type*>(place + p * threads));
    return tile;
  }
  KOKKOS_FORCEINLINE_FUNCTION void keep(int p, const Tile<Operand, V>& tile) const {
    tile.store(reinterpret_cast<storage_type*>(place + p * threads));
  }
};

/// One block's way: it has the same part of many rows, an aligned subtree of one pass a warp. In a turn, the workers
/// read the part and reduce it, then map that of two turns ago, and keep the new one in the place that has become free.
/// Beside them one more warp, the clerk, tells the other blocks the part's value, and gets from them that of the row of
/// the turn before: a fold of dear joins is a long chain of instructions, for which the workers need not wait. They and
/// the clerk meet once a turn, between the workers' reduction and their map.
template <class Body>
class PartTurns {
  using Group = LeafGroup<typename Body::contract, Body::element_bytes>;
  using Value = typename Body::Statistics::value_type;

 public:
  static constexpr int workers = 8;  // warps
  static constexpr int threads = (workers + 1) * warp_size;
  static constexpr int slots = 3;
  static constexpr std::size_t shared_bytes = std::size_t{slots} * Group::passes * workers * warp_size * sizeof(uint4);

  /// What the warps of a block tell each other; of turns in turn.
  struct Shared {
    Value of_warp[2][workers];
    Value of_row[2];
  };

  /// \param parts  of a row; the grid is a multiple of it
  __device__ PartTurns(const Body& body, std::int64_t rows, std::int64_t columns, int parts,
                       const PartsBoard<Value>& board, uint4* places, Shared& shared)
      : body_(body),
        rows_(rows),
        columns_(columns),
        parts_(parts),
        part_(static_cast<int>(blockIdx.x % static_cast<unsigned>(parts))),
        pass_(columns, Body::contract::leaf, part_ * workers + warp()),
        board_(board),
        places_(places + threadIdx.x),
        shared_(shared),
        row_(blockIdx.x / static_cast<unsigned>(parts)),
        step_(gridDim.x / static_cast<unsigned>(parts)) {}

  __device__ void run() {
    if (warp() < workers)
      work();
    else
      keep_books();
  }

 private:
  /// All warps, wherever in the program they come from; __syncthreads() has to be the same one for all.
  static __device__ void meet() { asm volatile("barrier.sync 1, %0;" ::"n"(threads) : "memory"); }
  static __device__ int warp() { return static_cast<int>(threadIdx.x) / warp_size; }
  template <class Operand>
  __device__ HeldInShared<Operand, Group::vector> places(unsigned turn) const {
    constexpr int all = workers * warp_size;
    return {places_ + turn % slots * Group::passes * all, all};
  }
  __device__ void next_turn() {
    row_ += step_;
    ++turn_;
  }

  __device__ void work() {
    next_ = pass_.hold(row_, body_.x);
    for (; row_ < rows_; next_turn()) body_(row_, Reduced{*this});
    for (int rest = 0; rest < 2; ++rest, next_turn()) {
      meet();
      map_earlier();
    }
  }
  /// Maps the part of two turns ago, if there was one.
  __device__ void map_earlier() const {
    if (turn_ >= 2) body_(row_ - 2 * step_, Mapped{*this});
  }

  __device__ void keep_books() {
    wait_for_previous_kernel();  // ClearFlags
    for (; row_ < rows_; next_turn()) {
      meet();
      read_ahead();
      publish();
      if (turn_ > 0) collect_earlier();
    }
    meet();
    collect_earlier();
    meet();
  }
  /// Has the next part brought into the second-level cache.
  __device__ void read_ahead() const {
#if __CUDA_ARCH__ >= 900
    if (lane() != 0 || row_ + step_ >= rows_) return;
    constexpr std::int64_t wide = std::int64_t{workers} * Group::groups * Body::contract::leaf;
    const std::int64_t left = columns_ - part_ * wide;
    const auto* const from = body_.x.address(row_ + step_, part_ * wide);
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from),
                 "r"(static_cast<unsigned>((left < wide ? left : wide) * sizeof(*from)))
                 : "memory");
#endif
  }
  __device__ void publish() const {
    const int left = static_cast<int>(HeldPass<Group>::count(columns_, Body::contract::leaf)) - part_ * workers;
    const int here = left < workers ? left : workers;
    const Value part = fold_lanes(shared_.of_warp[turn_ % 2][lane() < here ? lane() : 0], here, Join());
    if (lane() == 0) board_.publish(row_ * parts_ + part_, part);
  }
  /// The value of the row of one turn ago.
  __device__ void collect_earlier() const {
    const Value row = fold_lanes(board_.collect((row_ - step_) * parts_, parts_), parts_, Join());
    if (lane() == 0) shared_.of_row[(turn_ + 1) % 2] = row;
  }
  struct Join {
    __device__ Value operator()(const Value& a, const Value& b) const { return Body::Statistics::join(a, b); }
  };

  /// What a body sees of a part when it is reduced.
  struct Reduced {
    const PartTurns& turns;

    __device__ std::int64_t columns() const { return turns.columns_; }

    template <class Operand>
    __device__ const auto& hold(std::int64_t, const Operand&) const {
      return turns.next_;
    }
    template <class Reduction>
    __device__ Value reduce(std::int64_t, const Reduction& reduction) const {
      const Value value = turns.pass_.reduce(reduction);
      const auto places = turns.template places<typename PartTurns::Operand>(turns.turn_);
      turns.pass_.for_each([&](int p, std::int64_t) { places.keep(p, turns.next_.tile(p)); });
      if (turns.row_ + turns.step_ < turns.rows_)
        turns.next_ = turns.pass_.hold(turns.row_ + turns.step_, turns.body_.x);
      if (lane() == 0) turns.shared_.of_warp[turns.turn_ % 2][warp()] = value;
      meet();
      return value;
    }
    template <class... Ignored>
    __device__ void map(const Ignored&...) const {
      turns.map_earlier();
    }
  };

  /// What it sees when it is mapped.
  struct Mapped {
    const PartTurns& turns;

    __device__ std::int64_t columns() const { return turns.columns_; }

    template <class Operand>
    __device__ auto hold(std::int64_t, const Operand&) const {
      return turns.template places<Operand>(turns.turn_ - 2);
    }
    template <class Reduction>
    __device__ Value reduce(std::int64_t, const Reduction&) const {
      return turns.shared_.of_row[turns.turn_ % 2];
    }
    template <class F, class Out, class... Operand>
    __device__ void map(std::int64_t row, const F& f, const Out& out, const Operand&... operand) const {
      turns.pass_.map(row, f, out, operand...);
    }
  };

  using Operand = std::decay_t<decltype(std::declval<Body>().x)>;
  const Body& body_;
  mutable Held<Operand, Group::vector, Group::passes> next_;
  std::int64_t rows_, columns_;
  int parts_, part_;
  HeldPass<Group> pass_;
  PartsBoard<Value> board_;
  uint4* places_;
  Shared& shared_;
  std::int64_t row_, step_;
  unsigned turn_ = 0;
};

}  // namespace invar::backends::cuda

#endif
