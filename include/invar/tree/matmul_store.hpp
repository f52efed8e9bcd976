// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What becomes of a finished sum of matmul: the bias, and the rounding to the output's type.
#ifndef INVAR_TREE_MATMUL_STORE_HPP
#define INVAR_TREE_MATMUL_STORE_HPP

#include <invar/num/arithmetic.hpp>
#include <invar/num/types.hpp>

#include <Kokkos_Macros.hpp>
#include <cstdint>
#include <type_traits>

namespace invar::detail {

/// Stands for the bias where there is none.
struct NoBias {};

/// Writes outputs of c.
template <class C, class Bias>
struct MatmulStore {
  C c;
  Bias bias;
  bool is_empty;  ///< nothing was summed over: the sum is +0

  template <class Scalar>
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, Scalar total) const {
    if (is_empty) total = Scalar(0);
    if constexpr (!std::is_same_v<Bias, NoBias>)
      total = num::add(total, num::widen(typename Bias::non_const_value_type(bias(j))));
    c(i, j) = num::narrow<typename C::value_type>(total);
  }
};

}  // namespace invar::detail

#endif
