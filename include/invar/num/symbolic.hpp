// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The door through which a symbolic scalar (verify/trace.hpp) enters the kernels: every function of num/ has
/// one overload for types that satisfy Symbolic, and hands them the operation's name instead of computing.
#ifndef INVAR_NUM_SYMBOLIC_HPP
#define INVAR_NUM_SYMBOLIC_HPP

#include <cstdint>

namespace invar::num {

/// Names of the roundings that a kernel may perform. A symbolic scalar hashes them; floats never see them.
enum class Operation : std::uint64_t {
  add = 1,
  sub,
  mul,
  fma,
  div,
  sqrt,
  negate,
  max,
  min,
  exp,
  exp2,
  log,
  tanh,
  sigmoid,
  erf,
  sin,
  cos,
  finite_or_zero,
  reciprocal_or_zero,
  narrow
};

/// A type whose arithmetic is recorded, not computed: it declares the member type `invar_symbolic` and the
/// static member template `apply(Operation, operands…)`.
template <class T>
concept Symbolic = requires {
  typename T::invar_symbolic;
};

}  // namespace invar::num

#endif
