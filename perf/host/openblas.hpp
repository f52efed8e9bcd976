// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// OpenBLAS as a peer, where CMake found it.
#ifndef INVAR_PERF_HOST_OPENBLAS_HPP
#define INVAR_PERF_HOST_OPENBLAS_HPP

#ifdef INVAR_PERF_OPENBLAS

#include <cblas.h>

#include <cstdint>
#include <string>

// Declared by hand: their places in the headers differ between packages.
extern "C" char* openblas_get_corename();
extern "C" char* openblas_get_config();

namespace invar::perf {

/// Which of its kernels OpenBLAS chose for this processor: it makes a difference of two.
inline std::string openblas_version() {
  return std::string(openblas_get_config()) + ", kernels " + openblas_get_corename();
}

/// c [m, n] = a [m, k] · wᵀ, with w [n, k], all row by row.
inline void openblas_sgemm(float* c, const float* a, const float* w, std::int64_t m, std::int64_t n, std::int64_t k) {
  const auto rows = static_cast<int>(m), columns = static_cast<int>(n), depth = static_cast<int>(k);
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, columns, depth, 1.0f, a, depth, w, depth, 0.0f, c,
              columns);
}

/// The same with one row.
inline void openblas_sgemv(float* c, const float* a, const float* w, std::int64_t n, std::int64_t k) {
  const auto rows = static_cast<int>(n), columns = static_cast<int>(k);
  cblas_sgemv(CblasRowMajor, CblasNoTrans, rows, columns, 1.0f, w, columns, a, 1, 0.0f, c, 1);
}

}  // namespace invar::perf

#endif
#endif
