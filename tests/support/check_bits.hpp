// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// doctest's CHECK for views that must agree, or must not, in every bit.
#ifndef INVAR_TESTS_SUPPORT_CHECK_BITS_HPP
#define INVAR_TESTS_SUPPORT_CHECK_BITS_HPP

#include <doctest/doctest.h>

#include <invar/verify/compare.hpp>

#include <string>

namespace invar::test {

/// One assertion at a place in a test. Not inlined: tests have hundreds of them, in templates.
[[gnu::noinline]] inline void check_at(const char* file, int line, bool passed, const std::string& message) {
  if (passed)
    CHECK(passed);
  else
    ADD_FAIL_CHECK_AT(file, line, message);
}

}  // namespace invar::test

/// Checks that two views are equal bit by bit; prints the first difference.
#define CHECK_BITS(expected, actual)                                                                  \
  do {                                                                                                \
    const auto comparison_ = ::invar::verify::compare((expected), (actual));                          \
    ::invar::test::check_at(__FILE__, __LINE__, static_cast<bool>(comparison_), comparison_.message); \
  } while (false)

/// Checks that two views of equal extents and at least one element differ somewhere: for negative controls.
#define CHECK_BITS_DIFFER(first, second)                                                                    \
  do {                                                                                                      \
    const auto comparison_ = ::invar::verify::compare((first), (second));                                   \
    ::invar::test::check_at(__FILE__, __LINE__, comparison_.elements > 0, "nothing was compared");          \
    ::invar::test::check_at(__FILE__, __LINE__, comparison_.differing > 0, "a wrong order went unnoticed"); \
  } while (false)

#endif
