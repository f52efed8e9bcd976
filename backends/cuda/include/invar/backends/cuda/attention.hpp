// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Attention on NVIDIA GPUs: its schedules, and the launch of its kernels.
#ifndef INVAR_BACKENDS_CUDA_ATTENTION_HPP
#define INVAR_BACKENDS_CUDA_ATTENTION_HPP

#include <invar/backends/cuda/attention_fold.hpp>
#include <invar/backends/cuda/attention_kernel.hpp>
#include <invar/backends/cuda/launch.hpp>
#include <invar/backends/cuda/stream_buffer.hpp>
#include <invar/op/attention.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <type_traits>

namespace invar::schedule {

/// On a GPU a task is a thread block, and team_size counts the blocks that share the splits of its rows: 1, or (any
/// larger number) one for each split. Rows per task are rounded up to 4, 8, 16 or 64, and down where the device's
/// shared memory does not hold so many.
template <>
struct AttentionSchedules<Kokkos::Cuda> {
  static constexpr int apart = 1 << 20;
  static constexpr std::array<Attention, 9> table{{
      {"block chosen by the call's shape", 0, 0},
      {"4 rows per block", 4, 1},
      {"8 rows per block", 8, 1},
      {"16 rows per block", 16, 1},
      {"64 rows per block", 64, 1},
      {"4 rows per block, a split a block", 4, apart},
      {"8 rows per block, a split a block", 8, apart},
      {"16 rows per block, a split a block", 16, apart},
      {"64 rows per block, a split a block", 64, apart},
  }};

  /// The choice needs more than is known here, how many rows have the same request above all: it is made at the launch.
  static const Attention& choose(const Kokkos::Cuda&, std::int64_t, std::int64_t, std::int64_t) { return table[0]; }
};

}  // namespace invar::schedule

namespace invar::detail {

template <>
struct AttentionKernels<Kokkos::Cuda> {
  template <class Contract, class Out, class Q, class Kv, class Begin, class Length, class Scalar>
  static void run(const Kokkos::Cuda& exec, const AttentionCall<Out, Q, Kv, Begin, Length, Scalar>& call,
                  const schedule::Attention& chosen) {
    using K = typename decltype(call.kv.k)::non_const_value_type;
    using V = typename decltype(call.kv.v)::non_const_value_type;
    const backends::cuda::attn::Arguments<Scalar, K, V> arguments = arguments_of(call);
    launch_tiles<Contract>(exec, arguments, chosen);
  }

 private:
  /// Most memory that one launch asks for; longer calls come in several launches.
  static constexpr std::int64_t workspace_bytes = std::int64_t{128} << 20;

  template <class Call>
  static auto arguments_of(const Call& call) {
    using namespace backends::cuda::attn;
    using Scalar = std::remove_const_t<decltype(call.scale_log2)>;
    using K = typename decltype(call.kv.k)::non_const_value_type;
    using V = typename decltype(call.kv.v)::non_const_value_type;
    constexpr std::int64_t most = std::int64_t{1} << 30;
    if (call.kv.capacity() > most)
      throw error("attention", "kv positions", "at most " + std::to_string(most), std::to_string(call.kv.capacity()));
    Arguments<Scalar, K, V> a{};
    a.q = heads<const void*>(call.q);
    a.out = heads<void*>(call.out);
    a.k = cache(call.kv.k);
    a.v = cache(call.kv.v);
    a.query_begin = integers(call.query_begin);
    a.kv_length = integers(call.kv_length);
    a.page_size = static_cast<int>(call.kv.k.extent(1));
    if constexpr (requires { call.kv.page_table; }) {
      a.page_table = integers(call.kv.page_table);
      a.paged = true;
    }
    a.causal = call.causal;
    a.capacity = static_cast<int>(call.kv.capacity());
    a.kv_heads = call.kv_heads;
    a.group = call.group;
    a.head_dim = call.head_dim;
    a.value_dim = call.value_dim;
    a.requests = call.requests;
    a.tokens = call.rows / call.group;
    a.scale_log2 = call.scale_log2;
    return a;
  }

  struct Choice {
    int rows;    ///< of a tile, at most
    int tokens;  ///< of a tile, at most
    bool apart;  ///< a block for each split
  };

  template <class Contract, class A>
  static Choice choose(const Kokkos::Cuda& exec, const A& a, const schedule::Attention& chosen) {
    const std::int64_t splits = tree::leaf_count(a.capacity, Contract::split);
    if (chosen.rows_per_task > 0) {
      int rows = 4;
      while (rows < 64 && rows < chosen.rows_per_task) rows = rows == 16 ? 64 : 2 * rows;
      return {rows, rows, chosen.team_size > 1 && splits > 1};
    }
    // Rows of different requests share nothing, so a tile holds no more rows than a request has on average.
    const std::int64_t tokens = std::max<std::int64_t>(1, a.tokens / std::max<std::int64_t>(1, a.requests));
    const std::int64_t together = a.group * tokens;
    const std::int64_t blocks = schedule::Backend<Kokkos::Cuda>::multiprocessors(exec);
    Choice choice{together > 16  ? 64
                  : together > 8 ? 16
                  : together > 4 ? 8
                                 : 4,
                  static_cast<int>(std::min<std::int64_t>(tokens, 64)), false};
    const auto tiles = [&] {
      const std::int64_t rows = std::min<std::int64_t>(choice.rows, together);
      return tree::leaf_count(a.tokens * a.group, rows) * a.kv_heads;
    };
    while (choice.rows > 4 && tiles() * splits < blocks) choice.rows = choice.rows == 64 ? 16 : choice.rows / 2;
    choice.apart = splits > 1 && tiles() < 8 * blocks;
    return choice;
  }

  template <class Contract, class Scalar, class K, class V>
  static void launch_tiles(const Kokkos::Cuda& exec, backends::cuda::attn::Arguments<Scalar, K, V> a,
                           const schedule::Attention& chosen) {
    const Choice choice = choose<Contract>(exec, a, chosen);
    const auto fits = [&]<int Rows>(std::integral_constant<int, Rows>) {
      using Tile = backends::cuda::attn::Tile<Contract, Scalar, K, V, Rows>;
      return choice.rows >= Rows && a.value_dim <= Tile::max_value_dim &&
             Tile::shared_bytes(a.head_dim) <= exec.cuda_device_prop().sharedMemPerBlockOptin;
    };
    if (fits(std::integral_constant<int, 64>{}))
      launch<Contract, 64>(exec, a, choice);
    else if (fits(std::integral_constant<int, 16>{}))
      launch<Contract, 16>(exec, a, choice);
    else if (fits(std::integral_constant<int, 8>{}))
      launch<Contract, 8>(exec, a, choice);
    else if (fits(std::integral_constant<int, 4>{}))
      launch<Contract, 4>(exec, a, choice);
    else
      throw error("attention", "contract", "a block whose scores fit into the device's shared memory",
                  Contract::name());
  }

  template <class Contract, int Rows, class Scalar, class K, class V>
  static void launch(const Kokkos::Cuda& exec, backends::cuda::attn::Arguments<Scalar, K, V> a, const Choice& choice) {
    using namespace backends::cuda::attn;
    using Shape = Tile<Contract, Scalar, K, V, Rows>;
    const bool apart = choice.apart;
    const std::int64_t splits = tree::leaf_count(a.capacity, Contract::split);
    a.value_spread = row_spread(a.v, a.value_dim);
    a.tile_heads = std::min(a.group, Rows);
    a.head_tiles = (a.group + Rows - 1) / Rows;
    a.tile_tokens = std::min(std::max(1, Rows / a.group), choice.tokens);
    a.splits = apart ? static_cast<int>(splits) : 0;

    const std::int64_t token_tiles = tree::leaf_count(a.tokens, a.tile_tokens);
    const std::int64_t heads = std::int64_t{a.kv_heads} * a.group;
    // Blocks, and workspace, for tile_tokens tokens.
    const std::int64_t blocks = std::int64_t{a.head_tiles} * a.kv_heads * (apart ? splits : 1);
    const std::int64_t partials = apart ? a.tile_tokens * heads * splits * (a.value_dim + 2)
                                        : (splits > 1 ? blocks * Shape::group * Shape::outputs : 0);
    const std::int64_t bytes = partials * static_cast<std::int64_t>(sizeof(Scalar));
    const std::int64_t most =
        std::max<std::int64_t>(1, std::min(workspace_bytes / std::max<std::int64_t>(1, bytes), 0x7fffffff / blocks));
    const std::int64_t together = std::min(token_tiles, most);
    const backends::cuda::StreamBuffer workspace(exec, static_cast<std::size_t>(together * bytes));
    a.total = workspace.as<Scalar>();
    a.partial = a.total;
    a.sums = apart ? a.partial + together * a.tile_tokens * heads * splits * a.value_dim : nullptr;
    for (std::int64_t first = 0; first < token_tiles; first += together) {
      const std::int64_t here = std::min(together, token_tiles - first);
      a.first_tile = first * a.head_tiles;
      a.tiles = here * a.head_tiles;
      a.first_token = first * a.tile_tokens;
      backends::cuda::launch(
          "Invar::attention", exec,
          {dim3(static_cast<unsigned>(here * blocks)), dim3(Shape::threads), Shape::shared_bytes(a.head_dim)},
          Kernel<Contract, Scalar, K, V, Rows>{a});
      if (apart) {
        const std::int64_t tokens = std::min<std::int64_t>(a.tokens - a.first_token, here * a.tile_tokens);
        backends::cuda::launch(
            "Invar::attention::fold", exec,
            {dim3(static_cast<unsigned>(tokens * heads)), dim3(FoldKernel<Contract, Scalar, K, V>::max_threads)},
            FoldKernel<Contract, Scalar, K, V>{a});
      }
    }
  }
};

}  // namespace invar::detail

#endif
