// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// All elementary functions. Each one's header states its formula, its special values and its largest error.
#ifndef INVAR_NUM_ELEMENTARY_HPP
#define INVAR_NUM_ELEMENTARY_HPP

#include <invar/num/cos.hpp>
#include <invar/num/erf.hpp>
#include <invar/num/exp.hpp>
#include <invar/num/exp2.hpp>
#include <invar/num/frequency.hpp>
#include <invar/num/log.hpp>
#include <invar/num/sigmoid.hpp>
#include <invar/num/sin.hpp>
#include <invar/num/tanh.hpp>

#endif
