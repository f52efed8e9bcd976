// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The query rows of an attention call in tiles, each with the kernel that suits its number of rows.
#ifndef INVAR_BACKENDS_HOST_ATTENTION_TILES_HPP
#define INVAR_BACKENDS_HOST_ATTENTION_TILES_HPP

#include <invar/backends/host/attention_keys.hpp>
#include <invar/backends/host/attention_rows.hpp>
#include <invar/schedule/attention.hpp>
#include <invar/tree/aligned.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace invar::backends::host::attention {

/// Neighbouring rows of one KV head and one request, which share a pass over its keys and values. A row is a token and
/// a head of the group.
template <class T>
struct Tile {
  static constexpr int most = 3 * Vector<T>::lanes;

  int vectors;                                ///< of rows; 0 where positions are in the lanes
  int rows;                                   ///< of a KV head
  int kv_head;                                ///< the first
  int heads;                                  ///< KV heads: more than one only where positions are in the lanes
  std::int64_t request, first;                ///< request: −1 for tokens outside all of them
  std::int64_t visible[most > 8 ? most : 8];  ///< of each row; the last one's again behind it
  std::int64_t longest;
  /// Splits with a visible position; one where there is none, which does nothing.
  std::int64_t splits;
};

/// An attention call with its kernels for single tiles.
template <class Contract, class ProblemOfCall>
class Tiles {
 public:
  using scalar = typename ProblemOfCall::scalar;
  using TileOf = Tile<scalar>;
  static constexpr int lanes = Vector<scalar>::lanes;
  using ByKeys = KeyLanes<Contract, scalar>;
  template <int Vectors>
  using ByRows = RowLanes<Contract, scalar, Vectors>;

  /// \param workers  threads that will take tiles or their splits
  Tiles(const ProblemOfCall& call, const schedule::Attention& chosen, int workers)
      : call_(call), lanes_of_(chosen.lanes) {
    chunk_ = std::max(1, chosen.rows_per_task);
    // A token's heads stay together, or its keys would be read twice.
    if (lanes_of_ == schedule::AttentionLanes::keys && chunk_ > call.group) chunk_ = chunk_ / call.group * call.group;
    chunks_ = tree::leaf_count(call.rows, chunk_);
    heads_ = heads_together(chosen, workers);
    head_sets_ = (call.kv_heads + heads_ - 1) / heads_;
  }

  /// Equal parts of all rows.
  std::int64_t parts() const { return chunks_ * head_sets_; }

  /// Scalars of a result: of one split, or of the total.
  std::int64_t result_size() const {
    return std::max<std::int64_t>(TileOf::most * (2 + call_.value_dim),
                                  heads_ * ByKeys::max_rows * (2 + padded<scalar>(call_.value_dim)));
  }
  /// Scalars that a thread needs besides.
  std::int64_t thread_size() const {
    return query_size() + score_size() +
           static_cast<std::int64_t>(piece<Contract>) *
               (padded<scalar>(std::max(call_.head_dim, call_.value_dim)) + 32);
  }

  /// Calls use(tile) for all tiles of a part, in ascending order.
  template <class Use>
  void each_tile(std::int64_t part, const Use& use) const {
    const std::int64_t first = part % chunks_ * chunk_;
    const std::int64_t end = std::min(first + chunk_, call_.rows);
    for (std::int64_t row = first; row < end;) {
      TileOf tile;
      tile.kv_head = static_cast<int>(part / chunks_) * heads_;
      tile.heads = std::min(heads_, call_.kv_heads - tile.kv_head);
      tile.request = request_of(row / call_.group);
      tile.first = row;
      row = std::min(end, end_of_request(tile.request, row));
      for (; tile.first < row; tile.first += tile.rows) {
        shape(tile, row - tile.first);
        look(tile);
        use(static_cast<const TileOf&>(tile));
      }
    }
  }

  /// Puts a tile's queries into a thread's memory.
  void load_query(const TileOf& tile, scalar* memory) const {
    by_kind(tile, [&]<class Kernel>(std::type_identity<Kernel>) {
      const std::int64_t stride = call_.q.element;
      const auto row_of = [&](int r) {
        const Place at = place(tile, std::min(r, tile.rows - 1));
        return call_.q.at(at.token, at.head);
      };
      if constexpr (std::is_same_v<Kernel, ByKeys>) {
        for (int r = 0; r < tile.heads * tile.rows; ++r) {
          const Place at = place(tile, r % tile.rows, r / tile.rows);
          widen_row(memory + r * call_.head_dim, call_.q.at(at.token, at.head), stride, call_.head_dim);
        }
      } else {
        for (int r = 0; r < Kernel::rows; r += lanes) {
          int d = 0;
          if (stride == 1)
            for (; d + lanes <= call_.head_dim; d += lanes) {
              Vector<scalar> block[lanes];
              for (int l = 0; l < lanes; ++l) block[l] = Vector<scalar>::load(row_of(r + l) + d);
              Vector<scalar>::transpose(block);
              for (int i = 0; i < lanes; ++i) block[i].store(memory + (d + i) * Kernel::rows + r);
            }
          for (; d < call_.head_dim; ++d)
            for (int l = 0; l < lanes; ++l) memory[d * Kernel::rows + r + l] = num::widen(row_of(r + l)[d * stride]);
        }
      }
    });
  }

  /// Steps 1 to 5 for one split.
  void split(const TileOf& tile, std::int64_t split, scalar* memory, scalar* result) const {
    Split<scalar> s;
    s.begin = split * Contract::split;
    s.end = std::min<std::int64_t>(s.begin + Contract::split, tile.longest);
    s.visible = tile.visible;
    s.rows = tile.rows;
    s.heads = tile.heads;
    s.head_dim = call_.head_dim;
    s.value_dim = call_.value_dim;
    s.scale = call_.scale_log2;
    s.query = memory;
    s.score = memory + query_size();
    s.buffer = s.score + score_size();
    s.spare = s.score + score_size() - spare_size;
    s.result = result;
    by_kind(tile, [&]<class Kernel>(std::type_identity<Kernel>) {
      Kernel::split(s, side(call_.k, tile, tile.heads * call_.head_dim),
                    side(call_.v, tile, tile.heads * call_.value_dim));
    });
  }

  /// Step 6: folds split number `split` into the total of those before it.
  void fold(const TileOf& tile, scalar* total, const scalar* result, std::int64_t split) const {
    by_kind(tile, [&]<class Kernel>(std::type_identity<Kernel>) {
      if constexpr (std::is_same_v<Kernel, ByKeys>)
        ByKeys::fold(total, result, tile.visible, tile.rows, tile.heads, split * Contract::split, call_.value_dim);
      else
        Kernel::fold(total, result, tile.visible, split * Contract::split, call_.value_dim);
    });
  }

  /// Step 7.
  void finish(const TileOf& tile, const scalar* total) const {
    using Element = typename ProblemOfCall::out_element;
    by_kind(tile, [&]<class Kernel>(std::type_identity<Kernel>) {
      const std::int64_t stride = call_.out.element;
      Kernel::finish(total, tile.heads * tile.rows, call_.value_dim, [&](int r, int d, int n, const scalar* values) {
        const Place at = place(tile, r % tile.rows, r / tile.rows);
        Element* const to = call_.out.at(at.token, at.head) + d * stride;
        const bool sees = tile.visible[r % tile.rows] > 0;
        for (int i = 0; i < n; ++i) to[i * stride] = num::narrow<Element>(sees ? values[i] : scalar(0));
      });
    });
  }

 private:
  /// KV heads of a task: what the schedule allows, but so few that every worker has several splits to take.
  int heads_together(const schedule::Attention& chosen, int workers) const {
    if (lanes_of_ != schedule::AttentionLanes::keys || !side_by_side(call_.k, call_.head_dim) ||
        !side_by_side(call_.v, call_.value_dim))
      return 1;
    const std::int64_t splits =
        workers == 1 ? 4
                     : std::max<std::int64_t>(1, call_.requests * tree::leaf_count(call_.capacity, Contract::split));
    const int most = std::min({chosen.kv_heads_per_task, call_.kv_heads, ByKeys::max_all_rows / ByKeys::max_rows});
    int heads = std::max(1, most);
    while (heads > 1 && splits * ((call_.kv_heads + heads - 1) / heads) < 2 * workers) heads = (heads + 1) / 2;
    return heads;
  }
  /// True where the heads of a position are one piece of memory.
  template <class E>
  static bool side_by_side(const Cache<E>& cache, int dim) {
    return cache.element == 1 && cache.head == dim;
  }
  template <class E>
  CacheSide<E> side(const Cache<E>& cache, const TileOf& tile, int dim) const {
    return {cache, call_.page_table, tile.request, tile.kv_head, dim};
  }

  struct Place {
    std::int64_t token;
    int head;
  };

  Place place(const TileOf& tile, int row, int head = 0) const {
    const std::int64_t at = tile.first + row;
    return {at / call_.group, (tile.kv_head + head) * call_.group + static_cast<int>(at % call_.group)};
  }

  std::int64_t query_size() const {
    return std::max<std::int64_t>(TileOf::most, heads_ * ByKeys::max_rows) * padded<scalar>(call_.head_dim);
  }
  static constexpr std::int64_t spare_size = 4 * lanes;
  std::int64_t score_size() const {
    return std::max<std::int64_t>(TileOf::most, heads_ * ByKeys::max_rows) * Contract::block + spare_size;
  }

  /// Calls use with the kernel's class.
  template <class Use>
  void by_kind(const TileOf& tile, const Use& use) const {
    if (tile.vectors == 0)
      use(std::type_identity<ByKeys>{});
    else if (tile.vectors == 1)
      use(std::type_identity<ByRows<1>>{});
    else
      use(std::type_identity<ByRows<3>>{});
  }

  /// The rows of the next tile, of `left` rows.
  void shape(TileOf& tile, std::int64_t left) const {
    using schedule::AttentionLanes;
    const bool keys =
        lanes_of_ == AttentionLanes::keys || (lanes_of_ == AttentionLanes::fitting && left <= ByKeys::max_rows);
    // Three vectors of which one would be empty are slower than two tiles of one.
    tile.vectors = keys ? 0 : (left > 2 * lanes ? 3 : 1);
    const int most = keys ? ByKeys::max_rows : tile.vectors * lanes;
    tile.rows = static_cast<int>(std::min<std::int64_t>(left, most));
  }

  /// The rows' visible positions: a prefix of the sequence.
  void look(TileOf& tile) const {
    tile.longest = 0;
    for (int r = 0; r < TileOf::most || r < ByKeys::max_rows; ++r) {
      std::int64_t visible = 0;
      if (tile.request >= 0) {
        const std::int64_t length = std::min(call_.kv_length(tile.request), call_.capacity);
        const std::int64_t token = (tile.first + std::min(r, tile.rows - 1)) / call_.group;
        // The request's last query stands at the sequence's last position.
        const std::int64_t from_last = call_.query_begin(tile.request + 1) - 1 - token;
        visible = std::max<std::int64_t>(0, call_.causal ? length - from_last : length);
      }
      tile.visible[r] = visible;
      tile.longest = std::max(tile.longest, visible);
    }
    tile.splits = std::max<std::int64_t>(1, tree::leaf_count(tile.longest, Contract::split));
  }

  /// The request that a token belongs to, or −1 for a token outside all of them.
  std::int64_t request_of(std::int64_t token) const {
    std::int64_t low = 0;
    std::int64_t high = call_.requests + 1;  // first index whose query_begin exceeds token
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      if (call_.query_begin(middle) <= token)
        low = middle + 1;
      else
        high = middle;
    }
    return low > call_.requests ? -1 : low - 1;
  }
  /// The row after the last of a request. Tokens outside all requests are taken one by one.
  std::int64_t end_of_request(std::int64_t request, std::int64_t row) const {
    return request < 0 ? row + 1 : call_.query_begin(request + 1) * call_.group;
  }

  ProblemOfCall call_;
  schedule::AttentionLanes lanes_of_;
  std::int64_t chunk_, chunks_;
  int heads_, head_sets_;  ///< of a task; sets of so many
};

}  // namespace invar::backends::host::attention

#endif
