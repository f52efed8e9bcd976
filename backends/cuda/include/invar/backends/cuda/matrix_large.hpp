// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// matmul on Hopper's matrix unit for many rows of a: from a call to its kernel.
#ifndef INVAR_BACKENDS_CUDA_MATRIX_LARGE_HPP
#define INVAR_BACKENDS_CUDA_MATRIX_LARGE_HPP

#include <invar/backends/cuda/launch.hpp>
#include <invar/backends/cuda/matrix_call.hpp>
#include <invar/backends/cuda/matrix_large_kernel.hpp>
#include <invar/backends/cuda/matrix_large_schedule.hpp>
#include <invar/backends/cuda/matrix_large_split.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace invar::backends::cuda::gemm {

/// The kernel for a shape of tiles.
template <class A, class B, Major MajorB, class Shape, int Ranks, int Leaves, bool Plain>
struct LargeKernel {
  using type = MatmulLargeSplit<A, B, MajorB, typename Shape::template With<MajorB>, Ranks, Leaves, Plain>;
};
template <class A, class B, Major MajorB, class Shape, int Leaves, bool Plain>
struct LargeKernel<A, B, MajorB, Shape, 1, Leaves, Plain> {
  using type = MatmulLarge<A, B, MajorB, typename Shape::template With<MajorB>, Plain>;
};

/// A call on its way to a kernel with this shape of tiles. Ranks > 1: so many blocks of a cluster compute a tile, each
/// of them some of its leaves, at most Leaves.
template <class A, class B, class Shape, int Ranks = 1, int Leaves = 1>
class LargeLaunch {
 public:
  LargeLaunch(const Kokkos::Cuda& exec, const MatrixCall<A, B>& call) : exec_(exec), call_(call) {}

  /// False, and nothing is done, where the kernel cannot take the call.
  bool run() {
    // Stages are counted in int, and TMA wants coordinates of 32 bits.
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max() / 2 - 1024;
    const MatmulInput<A>& a = call_.a;
    const MatmulInput<B>& b = call_.b;
    const MatmulOutput<float>& out = call_.out;
    const std::int64_t k = call_.k, leaf = call_.leaf;
    if (exec_.cuda_device_prop().major != 9 || leaf % Shape::depth != 0 || out.chains != nullptr) return false;
    if (k < 1 || k > most || out.m < 1 || out.m > most || out.n < 1 || out.n > most || a.k_stride != 1) return false;
    const std::int64_t leaves = (k + leaf - 1) / leaf;
    if (Ranks > 1 && (leaves < Ranks || leaves > Ranks * Leaves)) return false;
    if (!make_tensor_map<A>(map_a_, {a.data, out.m, k, a.row_stride}, Shape::rows, Shape::depth)) return false;
    output_ = output();
    if (b.k_stride == 1 && make_tensor_map<B>(map_b_, {b.data, out.n, k, b.row_stride},
                                              Shape::template With<Major::k>::b_box, Shape::depth))
      return launch_major<Major::k>();
    if constexpr (sizeof(B) == 2)
      if (b.row_stride == 1 && make_tensor_map<B>(map_b_, {b.data, k, out.n, b.k_stride}, Shape::depth, 64))
        return launch_major<Major::mn>();
    return false;
  }

 private:
  using Packed = LargePacked<A>;
  template <Major MajorB, bool Plain>
  using Kernel = typename LargeKernel<A, B, MajorB, Shape, Ranks, Leaves, Plain>::type;

  template <Major MajorB>
  bool launch_major() const {
    return is_plain() ? launch_body<MajorB, true>() : launch_body<MajorB, false>();
  }

  /// Plain as MatmulLarge has it.
  bool is_plain() const {
    return output_.store == LargeStore::pairs && output_.sent_columns > call_.out.n && !call_.out.is_scaled &&
           call_.out.bias_type == Element::none && call_.out.residual_type == Element::none;
  }

  template <Major MajorB, bool Plain>
  bool launch_body() const {
    using Body = Kernel<MajorB, Plain>;
    constexpr std::int64_t rows = Shape::rows, columns = Shape::columns;
    const std::int64_t tiles_m = (call_.out.m + rows - 1) / rows, tiles_n = (call_.out.n + columns - 1) / columns;
    const std::int64_t tiles = tiles_m * tiles_n;
    if (tiles > std::numeric_limits<std::int32_t>::max() / 16 || !has_large_code<Body>(exec_)) return false;
    Body body{map_a_,
              map_b_,
              output_,
              static_cast<int>(call_.k),
              static_cast<int>(std::min<std::int64_t>(call_.leaf, call_.k + Shape::depth) / Shape::depth),
              LargeOrder::of(tiles_m, tiles_n, last_row()),
              static_cast<unsigned>(tiles)};
    if constexpr (Ranks > 1) {
      body.leaves = static_cast<int>((call_.k + call_.leaf - 1) / call_.leaf);
    } else if constexpr (Shape::halves) {
      const std::int64_t halved =
          schedule::halved_tiles(exec_.cuda_device_prop().multiProcessorCount, tiles, Shape::columns);
      body.tiles -= static_cast<unsigned>(halved);
      body.half_tiles = static_cast<unsigned>(2 * halved);
    }
    LaunchShape launch{blocks(tiles), dim3(Shape::threads), std::size_t{Shape::template With<MajorB>::shared_bytes}};
    launch.cluster = cluster(tiles);
    launch.overlaps = !stays_in_order(tiles);
    cuda::launch("Invar::matmul", exec_, launch, body);
    return true;
  }

  /// Where the last row of tiles begins: so that it ends with c, some outputs computed twice, unless c is the residual.
  /// A tile beyond the end reads less, and 300 rows took 1.7 times as long as 384: it gets out of step with those that
  /// share its weights, whose reads the chip then seems not to join.
  std::int64_t last_row() const {
    const MatmulOutput<float>& out = call_.out;
    const bool is_in_place = out.residual_type != Element::none && out.residual == out.c;
    return is_in_place ? out.m - 1 : std::max<std::int64_t>(out.m - Shape::rows, 0);
  }

  /// With leaves in several blocks, a block computes one tile only.
  dim3 blocks(std::int64_t tiles) const {
    const std::int64_t most = exec_.cuda_device_prop().multiProcessorCount;
    const std::int64_t blocks = Ranks > 1 ? tiles * Ranks : std::min(tiles, most), cluster = this->cluster(tiles);
    return dim3(static_cast<unsigned>((blocks + cluster - 1) / cluster * cluster));
  }
  // Where every block computes one tile, M = 256 took 4 to 9 % longer back to back when blocks could start as the last
  // kernel's ended, wherever one had. The likely cause: the chip joins reads of the same weights by neighbouring
  // multiprocessors, which then no longer hold neighbours of a column of tiles. So such blocks are clusters of two, or,
  // if small (for which clusters took 12 to 19 % longer from a cold cache), start together. For more tiles it brought
  // nothing.
  bool is_one_turn(std::int64_t tiles) const {
    return Ranks == 1 && tiles <= exec_.cuda_device_prop().multiProcessorCount;
  }
  bool stays_in_order(std::int64_t tiles) const { return Shape::groups == 1 && is_one_turn(tiles); }
  int cluster(std::int64_t tiles) const { return Shape::groups > 1 && is_one_turn(tiles) ? 2 : Ranks; }

  /// How c is stored.
  LargeOutput output() const {
    const MatmulOutput<float>& out = call_.out;
    LargeOutput output{map_a_, out, LargeStore::elements, 0};
    const bool has_residual = out.residual_type != Element::none;
    if (out.c_type == element_of<Packed>() && (!has_residual || has_residual_pieces())) {
      output.store = LargeStore::pairs;
      output.sent_columns = sent_columns<Packed>(output.map, Shape::block);
    } else if (out.c_type == Element::float32 && !has_residual) {
      output.sent_columns = sent_columns<float>(output.map, 32);
      if (output.sent_columns > 0) output.store = LargeStore::floats;
    }
    return output;
  }

  /// Whether the residual can be read in pieces of 16 bytes that are whole within c or outside.
  bool has_residual_pieces() const {
    const MatmulOutput<float>& out = call_.out;
    return out.residual_type == element_of<Packed>() && out.residual_column_stride == 1 && out.n % 8 == 0 &&
           out.residual_row_stride % 8 == 0 && reinterpret_cast<std::uintptr_t>(out.residual) % 16 == 0;
  }

  /// LargeOutput::sent_columns for c of type C, and its map. A copy by TMA writes whole pieces of 16 bytes, also beyond
  /// the last column.
  template <class C>
  int sent_columns(CUtensorMap& map, int columns) const {
    const MatmulOutput<float>& out = call_.out;
    if (out.column_stride != 1 ||
        !make_tensor_map<C>(map, {static_cast<const C*>(out.c), out.m, out.n, out.row_stride}, 64, columns))
      return 0;
    return out.n * static_cast<std::int64_t>(sizeof(C)) % 16 == 0 ? std::numeric_limits<std::int32_t>::max()
                                                                  : static_cast<int>(out.n);
  }

  /// Whether the program holds the kernel for sm_90a. Compiled for another architecture it has no wgmma, and static
  /// shared memory to say so.
  template <class Body>
  static bool has_large_code(const Kokkos::Cuda& exec) {
    static const bool found = [&] {
      const DeviceGuard guard(exec);
      cudaFuncAttributes attributes{};
      check(cudaFuncGetAttributes(&attributes, run_body<Body>), "cudaFuncGetAttributes");
      return attributes.sharedSizeBytes == 0;
    }();
    return found;
  }

  const Kokkos::Cuda& exec_;
  const MatrixCall<A, B>& call_;
  CUtensorMap map_a_{}, map_b_{};
  LargeOutput output_{};
};

/// Computes c = a·b and its epilogue, in tiles as chosen. False, and nothing is done, where this kernel cannot take the
/// call: the device or the program has no wgmma; k of a, or both directions of b (k of b, if its type is not of 16
/// bits), are not contiguous and aligned to 16 bytes; the leaf is no whole number of stages, 128 bytes; k is 0; there
/// is no such tile for the types, or it wants another number of leaves. c may be of any type and layout; those that are
/// aligned to 16 bytes are stored asynchronously.
template <class A, class B>
bool launch_large(const Kokkos::Cuda& exec, const MatrixCall<A, B>& call, const schedule::LargeTile& tile) {
  static_assert(sizeof(A) == sizeof(B));
  constexpr int bytes = sizeof(A);
  const auto is = [&](int rows, int columns, int ranks) {
    return tile.rows == rows && tile.columns == columns && tile.ranks == ranks;
  };
  if (is(128, 128, 1)) return LargeLaunch<A, B, LargeShape<2, 128, 0, true, 64, bytes>>(exec, call).run();
  if (is(64, 64, 1)) return LargeLaunch<A, B, LargeShape<1, 64, 0, false, 64, bytes>>(exec, call).run();
  if constexpr (bytes == 2) {
    if (is(128, 256, 1)) return LargeLaunch<A, B, LargeShape<2, 256, 2>>(exec, call).run();
    if (is(128, 192, 1)) return LargeLaunch<A, B, LargeShape<2, 192, 0, true>>(exec, call).run();
    if (is(128, 96, 1)) return LargeLaunch<A, B, LargeShape<2, 96, 0, true>>(exec, call).run();
    if (is(64, 128, 1)) return LargeLaunch<A, B, LargeShape<1, 128>>(exec, call).run();
    if (is(64, 96, 1)) return LargeLaunch<A, B, LargeShape<1, 96>>(exec, call).run();
    if (is(64, 64, 2)) return LargeLaunch<A, B, LargeShape<1, 64, 0, false, 32>, 2, 2>(exec, call).run();
  }
  return false;
}

}  // namespace invar::backends::cuda::gemm

#endif
