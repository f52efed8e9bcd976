// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Bitwise comparison of two views, with a message that helps.
#ifndef INVAR_VERIFY_COMPARE_HPP
#define INVAR_VERIFY_COMPARE_HPP

#include <invar/verify/host_copy.hpp>

#include <cstdint>
#include <iomanip>
#include <sstream>
#include <string>
#include <vector>

namespace invar::verify {

/// The outcome of compare(): converts to true where every bit agrees.
struct Comparison {
  std::int64_t elements = 0;
  std::int64_t differing = 0;
  std::string message;  ///< "equal", or the first differing element with both values and bit patterns

  explicit operator bool() const { return differing == 0; }
};

namespace detail {

template <class T>
std::string describe(const T& x) {
  std::ostringstream text;
  if constexpr (std::is_integral_v<T>)
    text << +x;
  else if constexpr (std::is_same_v<T, Trace>)
    text << "trace";
  else if constexpr (sizeof(T) <= 2)
    text << std::setprecision(9) << static_cast<float>(x);
  else
    text << std::setprecision(17) << x;
  text << " (0x" << std::hex << std::setw(2 * sizeof(T)) << std::setfill('0') << +element_bits(x) << ")";
  return text.str();
}

/// A view's extents, for what does not depend on the view's type: a program compares views of many types.
using Extents = std::vector<std::int64_t>;

template <class V>
Extents extents_of(const V& v) {
  Extents extents;
  for (int d = 0; d < static_cast<int>(V::rank); ++d) extents.push_back(static_cast<std::int64_t>(v.extent(d)));
  return extents;
}

inline std::string index_text(const Extents& extents, std::int64_t flat) {
  std::string text;
  for (auto n = extents.rbegin(); n != extents.rend(); ++n) {
    text = std::to_string(flat % *n) + (text.empty() ? "" : ", ") + text;
    flat /= *n;
  }
  return "(" + text + ")";
}

/// The message for views of unequal extents, empty for equal ones.
inline std::string extent_message(const Extents& expected, const Extents& actual) {
  for (std::size_t d = 0; d < expected.size(); ++d)
    if (expected[d] != actual[d])
      return "extent " + std::to_string(d) + " differs: expected " + std::to_string(expected[d]) + ", found " +
             std::to_string(actual[d]);
  return "";
}

template <class T>
std::string message(const Comparison& result, const std::string& index, const T& expected, const T& found) {
  return std::to_string(result.differing) + " of " + std::to_string(result.elements) + " elements differ, first at " +
         index + ": expected " + describe(expected) + ", found " + describe(found);
}

}  // namespace detail

/// Compares two views of one element type bit by bit in logical order; +0 and −0 differ, and so do two NaNs of
/// different bits. Views of unequal extents differ. Reads both on the host, after a fence.
template <class Expected, class Actual>
Comparison compare(const Expected& expected, const Actual& actual) {
  using T = typename Expected::non_const_value_type;
  static_assert(std::is_same_v<T, typename Actual::non_const_value_type>,
                "Invar: compare() takes views of one element type");
  static_assert(static_cast<int>(Expected::rank) == static_cast<int>(Actual::rank),
                "Invar: compare() takes views of one rank");
  Comparison result;
  const detail::Extents extents = detail::extents_of(expected);
  result.message = detail::extent_message(extents, detail::extents_of(actual));
  if (!result.message.empty()) {
    result.differing = 1;
    return result;
  }
  std::vector<T> values;
  values.reserve(expected.size());
  for_each_element(expected, [&](const T& x) { values.push_back(x); });
  std::int64_t first = -1;
  T found{};
  for_each_element(actual, [&](const T& x) {
    if (element_bits(x) != element_bits(values[result.elements])) {
      if (result.differing++ == 0) {
        first = result.elements;
        found = x;
      }
    }
    ++result.elements;
  });
  result.message =
      first < 0 ? "equal" : detail::message(result, detail::index_text(extents, first), values[first], found);
  return result;
}

}  // namespace invar::verify

#endif
