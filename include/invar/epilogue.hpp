// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What becomes of the finished sums of a matmul before they are stored.
#ifndef INVAR_EPILOGUE_HPP
#define INVAR_EPILOGUE_HPP

#include <Kokkos_Macros.hpp>
#include <type_traits>

namespace invar {
namespace detail {

/// Stands for an operand that an epilogue does not have.
struct NoOperand {};

}  // namespace detail

/// The epilogue of a matmul into c of type C. A finished sum t passes these steps, those that were asked for, each with
/// one rounding to the accumulator's type:
///
/// 1. t·scale
/// 2. t + bias(j)
/// 3. t rounded to C, and residual(i, j) added to that
///
/// Then it is rounded to C. So a residual gives the bits of a matmul into C and an addition that reads it from there:
/// who fuses the two agrees with who does not.
///
///     matmul(exec, c, a, b, epilogue().scaled(0.125).with_bias(bias).with_residual(x));
///
/// \tparam Bias      a view [N] of a type with the product's accumulator, or none
/// \tparam Residual  a view [M, N] of such a type, or none; it may be c itself
template <class Bias_ = detail::NoOperand, class Residual_ = detail::NoOperand>
struct Epilogue {
  using Bias = Bias_;
  using Residual = Residual_;
  static constexpr bool has_bias = !std::is_same_v<Bias, detail::NoOperand>;
  static constexpr bool has_residual = !std::is_same_v<Residual, detail::NoOperand>;

  double scale = 1;  ///< rounded to the accumulator's type
  bool is_scaled = false;
  Bias bias;
  Residual residual;

  /// The same epilogue with a factor.
  constexpr Epilogue scaled(double factor) const { return {factor, true, bias, residual}; }
  /// The same epilogue with a bias.
  template <class View>
  Epilogue<View, Residual> with_bias(const View& view) const {
    return {scale, is_scaled, view, residual};
  }
  /// The same epilogue with a residual.
  template <class View>
  Epilogue<Bias, View> with_residual(const View& view) const {
    return {scale, is_scaled, bias, view};
  }
};

/// The epilogue that only rounds; others start from it.
constexpr Epilogue<> epilogue() { return {}; }

}  // namespace invar

#endif
