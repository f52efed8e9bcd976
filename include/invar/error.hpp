// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The exception that a refused call throws, always before anything is written.
#ifndef INVAR_ERROR_HPP
#define INVAR_ERROR_HPP

#include <cstdint>
#include <stdexcept>
#include <string>

namespace invar {

/// A call that Invar refuses. The message names operation, argument, what was expected and what was found.
class error : public std::invalid_argument {
 public:
  error(const std::string& operation, const std::string& argument, const std::string& expected,
        const std::string& found)
      : std::invalid_argument("Invar: " + operation + ": " + argument + ": expected " + expected + ", found " + found) {
  }
};

}  // namespace invar

#endif
