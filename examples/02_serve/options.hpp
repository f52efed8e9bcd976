// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The command line.
#ifndef SERVE_OPTIONS_HPP
#define SERVE_OPTIONS_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace serve {

struct Options {
  std::string model;                  ///< path; empty for the default model
  std::string device = "cpu";         ///< "cpu", "cuda" or "both"
  std::string kernels = "invariant";  ///< or "variant"
  std::string precision = "f32";      ///< or "bf16"
  std::string graph = "on";           ///< or "off"
  std::string prompts;                ///< file; empty for the built-in prompts
  std::size_t requests = 16;
  std::size_t max_tokens = 48;  ///< that one answer may have
  std::size_t max_batch = 8;    ///< requests that are worked on at the same time
  std::size_t chunk = 32;       ///< prompt tokens of one request in one step, at most
  std::size_t page_size = 16;   ///< positions in one page of the KV cache
  std::uint64_t seed = 1;
  int threads = 0;  ///< 0: all
};

/// Parses a command line. Returns nothing when the program should end, with `exit_code` set: after --help, which
/// prints the help, or after a mistake, which is explained on stderr.
std::optional<Options> parse_options(int argc, const char* const* argv, int& exit_code);

}  // namespace serve

#endif
