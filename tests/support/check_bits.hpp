// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// doctest's CHECK for views that must agree, or must not, in every bit.
#ifndef INVAR_TESTS_SUPPORT_CHECK_BITS_HPP
#define INVAR_TESTS_SUPPORT_CHECK_BITS_HPP

#include <doctest/doctest.h>

#include <invar/verify/compare.hpp>

/// Checks that two views are equal bit by bit; prints the first difference.
#define CHECK_BITS(expected, actual)                                         \
  do {                                                                       \
    const auto comparison_ = ::invar::verify::compare((expected), (actual)); \
    CHECK_MESSAGE(static_cast<bool>(comparison_), comparison_.message);      \
  } while (false)

/// Checks that two views of equal extents and at least one element differ somewhere: for negative controls.
#define CHECK_BITS_DIFFER(first, second)                                      \
  do {                                                                        \
    const auto comparison_ = ::invar::verify::compare((first), (second));     \
    CHECK_MESSAGE(comparison_.elements > 0, "nothing was compared");          \
    CHECK_MESSAGE(comparison_.differing > 0, "a wrong order went unnoticed"); \
  } while (false)

#endif
