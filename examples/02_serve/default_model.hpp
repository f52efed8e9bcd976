// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Where the default model comes from.
#ifndef SERVE_DEFAULT_MODEL_HPP
#define SERVE_DEFAULT_MODEL_HPP

#include <filesystem>

namespace serve {

/// The path at which fetch_model keeps the default model; the file need not be there. Throws std::runtime_error when
/// the environment names no cache directory.
std::filesystem::path default_model_path();

/// Runs the script fetch_model, which fetches and verifies the default model unless the cache has it, and returns the
/// model's path. Throws std::runtime_error when the script cannot be run or fails; it has then explained why on stderr.
std::filesystem::path fetch_default_model(const std::filesystem::path& script);

}  // namespace serve

#endif
