// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Matrix products of groups of rows, each group with a matrix of its own: mixtures of experts.
#ifndef INVAR_OP_GROUPED_MATMUL_HPP
#define INVAR_OP_GROUPED_MATMUL_HPP

#include <invar/op/matmul.hpp>
#include <invar/tree/grouped_matmul.hpp>
#include <invar/tree/matrices.hpp>

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace invar {
namespace detail {

/// Throws unless the offsets ascend within [0, rows].
template <class Offsets>
void require_ascending(const Offsets& offsets, std::int64_t rows) {
  std::int64_t least = 0;
  for (std::size_t g = 0; g < offsets.extent(0); ++g) {
    const auto offset = static_cast<std::int64_t>(offsets(g));
    if (offset < least || offset > rows)
      throw error("grouped_matmul", "offsets(" + std::to_string(g) + ")",
                  std::to_string(least) + " to " + std::to_string(rows), std::to_string(offset));
    least = offset;
  }
}

/// Each output by itself, with any contract; the device alone reads the offsets.
template <class Contract, class Exec, class C, class A, class B, class Offsets>
void run_grouped_outputs(const Exec& exec, const C& c, const A& a, const B& b, const Offsets& offsets) {
  const auto extent = [](const auto& v, int d) { return static_cast<std::int64_t>(v.extent(d)); };
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  using Task = tree::GroupedOutput<Contract, C, A, B, Offsets>;
  Kokkos::parallel_for("Invar::grouped_matmul", Policy(exec, 0, extent(c, 0) * extent(c, 1)),
                       Task{c, a, b, offsets, extent(b, 0), extent(c, 1), extent(a, 1)});
}

/// The kernels of grouped_matmul on a backend. On a host they are matmul's, group after group; elsewhere outputs by
/// themselves, which is slow, and a backend with kernels of its own specialises it.
template <class Exec>
struct GroupedMatmulKernels {
  /// All views have been checked but for the values of the offsets; c is not empty, and there are groups.
  template <class Contract, class C, class A, class B, class Offsets>
  static void run(const Exec& exec, const C& c, const A& a, const B& b, const Offsets& offsets) {
    if constexpr (schedule::runs_on_host_v<Exec>) {
      exec.fence("Invar::grouped_matmul reads the offsets");
      require_ascending(offsets, static_cast<std::int64_t>(c.extent(0)));
      for (std::size_t g = 0; g < b.extent(0); ++g) {
        const std::int64_t begin = offsets(g), end = offsets(g + 1);
        matmul_of<Contract>(exec, tree::rows_of(c, begin, end), tree::rows_of(a, begin, end), tree::matrix_of(b, g),
                            epilogue(), nullptr);
      }
    } else {
      run_grouped_outputs<Contract>(exec, c, a, b, offsets);
    }
  }
};

}  // namespace detail

/// Rows offsets(g) … offsets(g + 1) − 1 of c are those rows of a times b(g, :, :): each row has the bits of matmul with
/// its group's matrix, whatever the groups are. Groups may be empty. Rows outside all groups are left alone.
///
/// \tparam Contract  fixes the bits, as in matmul
/// \param exec  runs asynchronously in this instance
/// \param c        [M, N], of a type that matmul gives. [out]
/// \param a        [M, K], of a type that matmul takes. [in]
/// \param b        [G, K, N], of a type that matmul takes with a's. [in]
/// \param offsets  [G + 1] of int32 or int64, in exec's memory, ascending within [0, M]. [in]
/// \throws invar::error  on wrong extents, or where c overlaps an input; on hosts also where offsets do not ascend
///
/// On a GPU the offsets are read by the kernel alone, so that the call can be captured in a graph; where they do not
/// ascend within [0, M], values of c are lost, but nothing outside the views is touched. With a matrix unit that the
/// device has, one kernel computes all groups; with ieee it is a simple one, far slower than matmul.
template <class Contract = contract::DefaultMatmul, ExecutionSpace Exec, ViewOfRank<2> C, ViewOfRank<2> A,
          ViewOfRank<3> B, ViewOfRank<1> Offsets>
void grouped_matmul(const Exec& exec, const C& c, const A& a, const B& b, const Offsets& offsets) {
  using namespace detail;
  using Offset = typename Offsets::non_const_value_type;
  static_assert(contract::is_matmul_v<Contract>, "Invar: grouped_matmul takes a contract::Matmul");
  static_assert(std::is_same_v<Offset, std::int32_t> || std::is_same_v<Offset, std::int64_t>,
                "Invar: grouped_matmul: offsets are std::int32_t or std::int64_t");
  check_output<Exec>("grouped_matmul", "c", c);
  check_operands<Contract, Exec, A, B>();
  check_view<Exec, Offsets>();
  require_extent("grouped_matmul", "c", c, 0, a.extent(0));
  require_extent("grouped_matmul", "c", c, 1, b.extent(2));
  require_extent("grouped_matmul", "b", b, 1, a.extent(1));
  require_extent("grouped_matmul", "offsets", offsets, 0, b.extent(0) + 1);
  require_disjoint("grouped_matmul", "c", c, "a", a);
  require_disjoint("grouped_matmul", "c", c, "b", b);
  require_disjoint("grouped_matmul", "c", c, "offsets", offsets);
  if (Contract::leaf == contract::whole_k && a.extent(1) > std::size_t{contract::whole_k})
    throw error("grouped_matmul", "a extent 1", "at most " + std::to_string(contract::whole_k) + " for a single chain",
                std::to_string(a.extent(1)));
  if (c.size() == 0 || b.extent(0) == 0) return;
  GroupedMatmulKernels<Exec>::template run<Contract>(exec, c, a, b, offsets);
}

}  // namespace invar

#ifdef KOKKOS_ENABLE_CUDA
#include <invar/backends/cuda/matrix_grouped.hpp>
#endif

#endif
