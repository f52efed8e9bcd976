// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What Invar asks of a Kokkos view, the checks that every operation makes, and the transposed view.
#ifndef INVAR_VIEW_HPP
#define INVAR_VIEW_HPP

#include <invar/error.hpp>
#include <invar/num/types.hpp>

#include <Kokkos_Core.hpp>
#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>

namespace invar {

/// A Kokkos view of the given rank.
template <class V, int Rank>
concept ViewOfRank = Kokkos::is_view_v<V> && static_cast<int>(V::rank) == Rank;

/// A Kokkos execution space, whose instance is every operation's first argument.
template <class E>
concept ExecutionSpace = Kokkos::is_execution_space_v<E>;

/// The transposed matrix over the same memory: element (i, j) of the result is element (j, i) of the argument. A weight
/// stored [N, K] by rows, as linear layers keep it, enters matmul as `transposed(weight)`. The result does not own the
/// memory: the argument has to live until the work is done.
template <ViewOfRank<2> V>
auto transposed(const V& v) {
  using Result = Kokkos::View<typename V::value_type**, Kokkos::LayoutStride, typename V::device_type,
                              Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  return Result(v.data(), Kokkos::LayoutStride(v.extent(1), v.stride(1), v.extent(0), v.stride(0)));
}

namespace detail {

/// Compile-time conditions on one argument.
template <class Exec, class V>
constexpr void check_view() {
  using Layout = typename V::array_layout;
  static_assert(Kokkos::SpaceAccessibility<Exec, typename V::memory_space>::accessible,
                "Invar: a view's memory cannot be reached from this execution space");
  static_assert(std::is_same_v<Layout, Kokkos::LayoutRight> || std::is_same_v<Layout, Kokkos::LayoutLeft> ||
                    std::is_same_v<Layout, Kokkos::LayoutStride>,
                "Invar: unsupported view layout; supported are LayoutRight, LayoutLeft and LayoutStride");
}

/// Compile-time conditions on an argument whose elements are numbers.
template <class Exec, class V>
constexpr void check_input() {
  check_view<Exec, V>();
  (void)sizeof(num::accumulator_t<typename V::non_const_value_type>);
}

/// Conditions on a result: at compile time those of an input, and that it can be written; at run time that no two of
/// its elements are one, as in a view with stride 0.
template <class Exec, class V>
void check_output(const char* operation, const char* argument, const V& v) {
  if constexpr (std::is_integral_v<typename V::non_const_value_type>)
    check_view<Exec, V>();  // an index, as argmax stores it
  else
    check_input<Exec, V>();
  static_assert(!std::is_const_v<typename V::value_type>, "Invar: the output view is const");
  if (v.size() == 0) return;
  // Each stride must step over all that the smaller ones reach.
  constexpr int rank = static_cast<int>(V::rank);
  for (int d = 0; d < rank; ++d) {
    if (v.extent(d) == 1) continue;
    std::uintptr_t reach = 0;
    for (int e = 0; e < rank; ++e)
      if (v.stride(e) < v.stride(d) || (v.stride(e) == v.stride(d) && e < d)) reach += (v.extent(e) - 1) * v.stride(e);
    if (v.stride(d) <= reach)
      throw error(operation, argument, "elements apart from each other",
                  "stride " + std::to_string(v.stride(d)) + " in dimension " + std::to_string(d));
  }
}

/// Throws unless extent `dim` of `v` is `expected`.
template <class V>
void require_extent(const char* operation, const char* argument, const V& v, int dim, std::int64_t expected) {
  const auto found = static_cast<std::int64_t>(v.extent(dim));
  if (found != expected)
    throw error(operation, std::string(argument) + " extent " + std::to_string(dim), std::to_string(expected),
                std::to_string(found));
}

/// The addresses that a view may touch, and how its outermost stride repeats them.
struct Footprint {
  std::uintptr_t begin = 0;
  std::uintptr_t bytes = 0;         // from the first to one past the last element; 0 where the view is empty
  std::uintptr_t outer_stride = 0;  // bytes; 0 where no stride separates disjoint pieces
  std::uintptr_t piece = 0;         // bytes of one piece
};

template <class V>
Footprint footprint(const V& v) {
  Footprint f;
  f.begin = reinterpret_cast<std::uintptr_t>(v.data());
  if (v.size() == 0) return f;
  constexpr int rank = static_cast<int>(V::rank);
  const std::uintptr_t size = sizeof(typename V::value_type);
  int outer = -1;
  std::uintptr_t last = 0;
  for (int d = 0; d < rank; ++d) {
    last += (v.extent(d) - 1) * v.stride(d) * size;
    if (v.extent(d) > 1 && (outer < 0 || v.stride(d) > v.stride(outer))) outer = d;
  }
  f.bytes = last + size;
  if (outer >= 0) {
    f.outer_stride = v.stride(outer) * size;
    f.piece = f.bytes - (v.extent(outer) - 1) * f.outer_stride;
    if (f.piece > f.outer_stride) f.outer_stride = f.piece = 0;
  }
  return f;
}

/// True where two views may share an element. Column slices of one buffer (equal outermost stride) are told apart.
inline bool overlap(const Footprint& a, const Footprint& b) {
  if (a.bytes == 0 || b.bytes == 0) return false;
  if (a.begin + a.bytes <= b.begin || b.begin + b.bytes <= a.begin) return false;
  if (a.outer_stride == 0 || a.outer_stride != b.outer_stride) return true;
  const std::uintptr_t stride = a.outer_stride;
  const std::uintptr_t shift = (b.begin % stride + stride - a.begin % stride) % stride;  // b's piece as seen from a's
  return shift < a.piece || shift + b.piece > stride;
}

/// Throws where the output shares memory with an input.
template <class Out, class In>
void require_disjoint(const char* operation, const char* out_name, const Out& out, const char* in_name, const In& in) {
  if (overlap(footprint(out), footprint(in)))
    throw error(operation, out_name, std::string("memory apart from ") + in_name, "overlapping memory");
}

/// True where both views name the same elements in the same order.
template <class Out, class In>
bool same_elements(const Out& out, const In& in) {
  if constexpr (!std::is_same_v<typename Out::non_const_value_type, typename In::non_const_value_type> ||
                static_cast<int>(Out::rank) != static_cast<int>(In::rank)) {
    return false;
  } else {
    if (out.data() != in.data()) return false;
    for (int d = 0; d < static_cast<int>(Out::rank); ++d)
      if (out.extent(d) != in.extent(d) || (out.extent(d) > 1 && out.stride(d) != in.stride(d))) return false;
    return true;
  }
}

/// Throws where the output overlaps an input, unless it is that very view: in place is fine.
template <class Out, class In>
void require_disjoint_or_same(const char* operation, const char* out_name, const Out& out, const char* in_name,
                              const In& in) {
  if (!same_elements(out, in)) require_disjoint(operation, out_name, out, in_name, in);
}

}  // namespace detail
}  // namespace invar

#endif
