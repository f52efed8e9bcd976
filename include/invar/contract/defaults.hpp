// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The contract that each operation uses when none is named. Changing one changes bits, and is a breaking change.
#ifndef INVAR_CONTRACT_DEFAULTS_HPP
#define INVAR_CONTRACT_DEFAULTS_HPP

#include <invar/contract/attention.hpp>
#include <invar/contract/elementwise.hpp>
#include <invar/contract/matmul.hpp>
#include <invar/contract/rows.hpp>

namespace invar::contract {

/// sum, mean: a lane is a chain of additions.
using Sum = Rows<>;
/// dot, norm2: a lane is a chain of fma.
using Dot = Rows<>;
/// max, min, argmax: exactly associative, so the tree does not reach the bits.
using Extremum = Rows<>;
/// logsumexp: a leaf is (maximum, sum of exponentials shifted by it); see op/logsumexp.hpp for the join.
using LogSumExp = Rows<>;
/// rms_norm, layer_norm: the sums of the row are those of Sum and Dot.
using Norm = Rows<>;
/// softmax, log_softmax: the statistics of logsumexp.
using Softmax = Rows<>;
/// matmul.
using DefaultMatmul = Matmul<>;
/// attention.
using DefaultAttention = Attention<>;
/// rope, silu_mul, embedding.
using DefaultElementwise = Elementwise<>;

}  // namespace invar::contract

#endif
