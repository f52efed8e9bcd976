// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// A matrix in the order in which matmul reads it on a host.
#ifndef INVAR_PACKED_MATRIX_HPP
#define INVAR_PACKED_MATRIX_HPP

#include <invar/num/types.hpp>
#include <invar/schedule/backend.hpp>
#include <invar/view.hpp>

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace invar {

/// A matrix b [K, N] of a product a·b, packed once and used often: weights, in an inference. Matmul reads it from front
/// to back, whatever the number of rows of a; it holds the same values, so no bit of a product depends on it.
///
/// The layout: blocks of 512 rows of b, one after another, the last with what is left of K; in each, panels of 32
/// columns; in each of those, its rows of 32 elements. Element (k, j) lies at
///
///     k0·P + (j / 32)·32·d + (k − k0)·32 + j % 32
///
/// where k0 = k − k % 512, d = min(512, K − k0), and P is N rounded up to a multiple of 32. Columns from N to P are
/// zero.
///
/// Copies share the memory, as those of a Kokkos view.
///
/// \tparam T  float, double, bfloat16_t or float16_t
template <class T, class Memory = Kokkos::HostSpace>
class PackedMatrix {
  static_assert(Kokkos::SpaceAccessibility<Kokkos::HostSpace, Memory>::accessible,
                "Invar: PackedMatrix is for products on hosts; kernels of other backends read matrices as they are");

 public:
  using value_type = T;
  using memory_space = Memory;
  static constexpr std::int64_t panel_columns = 32;
  static constexpr std::int64_t block_k = 512;

  /// 0 by 0.
  PackedMatrix() = default;
  /// Memory for a [k, n] matrix, as yet without values.
  PackedMatrix(std::int64_t k, std::int64_t n)
      : k_(k),
        n_(n),
        elements_(Kokkos::view_alloc(Kokkos::WithoutInitializing, "Invar::PackedMatrix"),
                  static_cast<std::size_t>(k * padded(n))) {}

  /// K in dimension 0, N in dimension 1.
  std::int64_t extent(int dimension) const { return dimension == 0 ? k_ : n_; }
  /// The number of panels.
  std::int64_t panels() const { return padded(n_) / panel_columns; }
  std::size_t bytes() const { return elements_.size() * sizeof(T); }
  T* data() const { return elements_.data(); }

  /// Where panel p has its row k; the panel's next rows follow, to the end of the block of 512.
  T* row(std::int64_t k, std::int64_t p) const {
    const std::int64_t k0 = k - k % block_k;
    return data() + k0 * padded(n_) + p * panel_columns * block_depth(k0) + (k - k0) * panel_columns;
  }
  /// The number of rows in the block that begins at k0.
  std::int64_t block_depth(std::int64_t k0) const { return k_ - k0 < block_k ? k_ - k0 : block_k; }
  /// Element (k, j).
  T operator()(std::int64_t k, std::int64_t j) const { return row(k, j / panel_columns)[j % panel_columns]; }

 private:
  static std::int64_t padded(std::int64_t n) { return (n + panel_columns - 1) / panel_columns * panel_columns; }

  std::int64_t k_ = 0, n_ = 0;
  Kokkos::View<T*, Memory> elements_;
};

namespace detail {

/// Packs a panel of a block: columns of b from `column0` on, zeros beyond the last.
template <class T, class Memory, class B>
struct PackPanel {
  PackedMatrix<T, Memory> packed;
  B b;

  /// \param task  a panel of a block, in the order of memory
  void operator()(std::int64_t task) const {
    constexpr std::int64_t width = PackedMatrix<T, Memory>::panel_columns;
    const std::int64_t panel = task % packed.panels();
    const std::int64_t k0 = task / packed.panels() * PackedMatrix<T, Memory>::block_k;
    const std::int64_t depth = packed.block_depth(k0);
    const std::int64_t left = packed.extent(1) - panel * width;
    const std::int64_t columns = left < width ? left : width;
    T* const to = packed.row(k0, panel);
    const auto* const from = b.data();
    const auto down = static_cast<std::int64_t>(b.stride(0)), right = static_cast<std::int64_t>(b.stride(1));
    const auto copy = [&](std::int64_t k, std::int64_t j) {
      to[k * width + j] = j < columns ? T(from[(k0 + k) * down + (panel * width + j) * right]) : T(0);
    };
    constexpr std::int64_t strip =
        16;  // rows: what a column has of them lies in a cache line or two, where it lies dense
    for (std::int64_t begin = 0; begin < depth; begin += strip) {
      const std::int64_t end = begin + strip < depth ? begin + strip : depth;
      if (down < right)
        for (std::int64_t j = 0; j < width; ++j)
          for (std::int64_t k = begin; k < end; ++k) copy(k, j);
      else
        for (std::int64_t k = begin; k < end; ++k)
          for (std::int64_t j = 0; j < width; ++j) copy(k, j);
    }
  }
};

}  // namespace detail

/// Packs b into `packed`.
///
/// \param exec    a host's; runs asynchronously in this instance
/// \param packed  [K, N] [out]
/// \param b       [K, N]; weights stored [N, K] enter as transposed(weight). [in]
/// \throws invar::error  on wrong extents
template <ExecutionSpace Exec, class T, class Memory, ViewOfRank<2> B>
void pack(const Exec& exec, const PackedMatrix<T, Memory>& packed, const B& b) {
  detail::check_input<Exec, B>();
  static_assert(std::is_same_v<typename B::non_const_value_type, T>, "Invar: pack: b has another element type");
  static_assert(Kokkos::SpaceAccessibility<Exec, Kokkos::HostSpace>::accessible,
                "Invar: pack: a PackedMatrix is for products on hosts");
  for (int d = 0; d < 2; ++d) detail::require_extent("pack", "b", b, d, packed.extent(d));
  const std::int64_t blocks = (packed.extent(0) + packed.block_k - 1) / packed.block_k;
  Kokkos::parallel_for("Invar::pack",
                       Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, blocks * packed.panels()),
                       detail::PackPanel<T, Memory, B>{packed, b});
}

/// b, packed into memory of its own.
template <ExecutionSpace Exec, ViewOfRank<2> B>
auto pack(const Exec& exec, const B& b) {
  const PackedMatrix<typename B::non_const_value_type, typename Exec::memory_space> packed(
      static_cast<std::int64_t>(b.extent(0)), static_cast<std::int64_t>(b.extent(1)));
  pack(exec, packed, b);
  return packed;
}

}  // namespace invar

#endif
