// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What becomes of a finished sum of matmul: its epilogue, and the rounding to the output's type.
#ifndef INVAR_TREE_MATMUL_STORE_HPP
#define INVAR_TREE_MATMUL_STORE_HPP

#include <invar/epilogue.hpp>
#include <invar/num/arithmetic.hpp>
#include <invar/num/types.hpp>

#include <Kokkos_Macros.hpp>
#include <cstdint>

namespace invar::detail {

/// Writes outputs of c.
template <class C, class Epilogue>
struct MatmulStore {
  C c;
  Epilogue epilogue;
  bool is_empty;  ///< nothing was summed over: the sum is +0

  template <class Scalar>
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, Scalar total) const {
    using Element = typename C::value_type;
    if (is_empty) total = Scalar(0);
    if (epilogue.is_scaled) total = num::mul(total, Scalar(epilogue.scale));
    if constexpr (Epilogue::has_bias)
      total = num::add(total, num::widen(typename Epilogue::Bias::non_const_value_type(epilogue.bias(j))));
    if constexpr (Epilogue::has_residual)
      total = num::add(Scalar(num::widen(num::narrow<Element>(total))),
                       num::widen(typename Epilogue::Residual::non_const_value_type(epilogue.residual(i, j))));
    c(i, j) = num::narrow<Element>(total);
  }
};

}  // namespace invar::detail

#endif
