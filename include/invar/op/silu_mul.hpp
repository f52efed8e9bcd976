// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// SiLU of a gate times a second factor, as in gated feed-forward layers (SwiGLU).
#ifndef INVAR_OP_SILU_MUL_HPP
#define INVAR_OP_SILU_MUL_HPP

#include <invar/contract/defaults.hpp>
#include <invar/num/arithmetic.hpp>
#include <invar/num/sigmoid.hpp>
#include <invar/tree/elements.hpp>
#include <invar/tree/launch_elements.hpp>
#include <invar/tree/outputs.hpp>
#include <invar/view.hpp>

namespace invar {
namespace detail {

/// A row a work item: the columns of a row vectorise.
template <class Y, class G, class U>
struct SiluMul {
  static constexpr int element_bytes = tree::narrowest<tree::Output<Y>, tree::Elements<G>, tree::Elements<U>>();
  using scalar = typename tree::Elements<G>::value_type;
  tree::Output<Y> y;
  tree::Elements<G> gate;
  tree::Elements<U> up;

  template <class Line>
  KOKKOS_FUNCTION void operator()(std::int64_t row, const Line& line) const {
    line.map(
        row, [](auto g, auto u) { return num::mul_unfenced(num::mul_unfenced(g, num::sigmoid(g)), u); }, y, gate, up);
  }
};

}  // namespace detail

/// y(i, j) = (g·sigmoid(g))·up(i, j) with g = gate(i, j); each product rounded, then rounded to y's type. (Shazeer,
/// 2020.)
///
/// \tparam Contract  contract::Elementwise<ieee>
/// \param exec  runs asynchronously in this instance
/// \param y     [rows, columns], any supported type; may be gate or up itself. [out]
/// \param gate, up  [rows, columns] each; float, bfloat16_t or float16_t, widened to float. [in]
/// \param schedule  one of schedule::elementwise_table (an item is a row), or null to let the shape choose
/// \throws invar::error  on wrong extents, or where y overlaps an input without being it
///
/// −∞ in the gate gives NaN (−∞·0), as the formula says. double is not supported: sigmoid is a float function.
template <class Contract = contract::DefaultElementwise, ExecutionSpace Exec, ViewOfRank<2> Y, ViewOfRank<2> G,
          ViewOfRank<2> U>
void silu_mul(const Exec& exec, const Y& y, const G& gate, const U& up,
              const schedule::Elementwise* schedule = nullptr) {
  static_assert(contract::is_elementwise_v<Contract>, "Invar: silu_mul takes a contract::Elementwise");
  using namespace detail;
  check_output<Exec>("silu_mul", "y", y);
  check_input<Exec, G>();
  check_input<Exec, U>();
  for (int d = 0; d < 2; ++d) {
    require_extent("silu_mul", "y", y, d, gate.extent(d));
    require_extent("silu_mul", "up", up, d, gate.extent(d));
  }
  require_disjoint_or_same("silu_mul", "y", y, "gate", gate);
  require_disjoint_or_same("silu_mul", "y", y, "up", up);
  tree::launch_elements("Invar::silu_mul", exec, static_cast<std::int64_t>(gate.extent(0)),
                        static_cast<std::int64_t>(gate.extent(1)), schedule, SiluMul<Y, G, U>{{y}, {gate}, {up}});
}

}  // namespace invar

#endif
