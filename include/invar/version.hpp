// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The version of the library. CMakeLists.txt reads it from here, so it is stated once.
#ifndef INVAR_VERSION_HPP
#define INVAR_VERSION_HPP

#define INVAR_VERSION_MAJOR 0
#define INVAR_VERSION_MINOR 1
#define INVAR_VERSION_PATCH 0

/// major * 10000 + minor * 100 + patch, for comparisons in the preprocessor.
#define INVAR_VERSION (INVAR_VERSION_MAJOR * 10000 + INVAR_VERSION_MINOR * 100 + INVAR_VERSION_PATCH)

#endif
