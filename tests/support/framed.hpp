// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrices inside larger buffers of garbage, and the garbage.
#ifndef INVAR_TESTS_SUPPORT_FRAMED_HPP
#define INVAR_TESTS_SUPPORT_FRAMED_HPP

#include "environment.hpp"

#include <invar/num/types.hpp>
#include <invar/verify/host_copy.hpp>

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace invar::test {

/// A value that spoils whatever it enters: a NaN with sign and payload, or a symbol or number used nowhere else.
template <class T>
T garbage() {
  if constexpr (num::Symbolic<T>)
    return T::from_hash(0xdeadbeefdeadbeefu);
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(0x5a5a5a5a5a5a5a5a);
  else if constexpr (std::is_same_v<T, double>)
    return num::from_bits<double>(std::uint64_t{0xfff8dead0000beefu});
  else if constexpr (std::is_same_v<T, float>)
    return num::from_bits<float>(std::uint32_t{0xffc0beefu});
  else if constexpr (sizeof(T) == 1)
    return T::from_bits(0xffu);  // a NaN of both 8-bit types
  else
    return T::from_bits(0xfffbu);  // a NaN of both 16-bit types
}

/// Plus or minus infinity; for a symbolic type a symbol.
template <class T>
T infinity(bool negative = false) {
  if constexpr (num::Symbolic<T>)
    return T::input(negative ? 98 : 99);
  else
    return T(negative ? -HUGE_VALF : HUGE_VALF);
}

template <class V>
void fill(const V& v, typename V::value_type value) {
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(v.extent(0)); ++i)
    if constexpr (static_cast<int>(V::rank) == 1)
      v(i) = value;
    else
      for (std::int64_t j = 0; j < static_cast<std::int64_t>(v.extent(1)); ++j) v(i, j) = value;
}

/// A [rows, columns] view into a larger buffer: `left` elements before and `right` after each row and a row above and
/// below are garbage. The view's type is the same for every frame, and is that of a row-major view.
template <class T>
class Framed {
  using Buffer = Kokkos::View<T**, Kokkos::LayoutRight, Memory>;
  static auto window(const Buffer& buffer, std::int64_t rows, std::int64_t columns, std::int64_t left) {
    return Kokkos::subview(buffer, std::pair(std::int64_t{1}, 1 + rows), std::pair(left, left + columns));
  }

 public:
  using View = decltype(window(Buffer(), 0, 0, 0));

  Framed(std::int64_t rows, std::int64_t columns, std::int64_t left = 0, std::int64_t right = 0)
      : buffer_(Kokkos::view_alloc("buffer", Kokkos::WithoutInitializing), rows + 2, left + columns + right),
        left_(left),
        view_(window(buffer_, rows, columns, left)) {
    fill(buffer_, garbage<T>());
  }

  const View& view() const { return view_; }

  /// True while nothing outside the view has been written.
  bool is_intact() const {
    const auto rows = static_cast<std::int64_t>(view_.extent(0)), columns = static_cast<std::int64_t>(view_.extent(1));
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(buffer_.extent(0)); ++i)
      for (std::int64_t j = 0; j < static_cast<std::int64_t>(buffer_.extent(1)); ++j) {
        const bool inside = i >= 1 && i <= rows && j >= left_ && j < left_ + columns;
        if (!inside && verify::element_bits(buffer_(i, j)) != verify::element_bits(garbage<T>())) return false;
      }
    return true;
  }

 private:
  Buffer buffer_;
  std::int64_t left_;
  View view_;
};

}  // namespace invar::test

#endif
