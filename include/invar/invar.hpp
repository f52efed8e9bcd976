// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// All of Invar but the specifications in reference/.
#ifndef INVAR_INVAR_HPP
#define INVAR_INVAR_HPP

#include <invar/config.hpp>
#include <invar/contract/defaults.hpp>
#include <invar/error.hpp>
#include <invar/num/elementary.hpp>
#include <invar/num/types.hpp>
#include <invar/op/argmax.hpp>
#include <invar/op/attention.hpp>
#include <invar/op/batched_matmul.hpp>
#include <invar/op/dot.hpp>
#include <invar/op/embedding.hpp>
#include <invar/op/grouped_matmul.hpp>
#include <invar/op/layer_norm.hpp>
#include <invar/op/log_softmax.hpp>
#include <invar/op/logsumexp.hpp>
#include <invar/op/matmul.hpp>
#include <invar/op/matmul_silu_mul.hpp>
#include <invar/op/max.hpp>
#include <invar/op/mean.hpp>
#include <invar/op/min.hpp>
#include <invar/op/norm2.hpp>
#include <invar/op/rms_norm.hpp>
#include <invar/op/rope.hpp>
#include <invar/op/silu_mul.hpp>
#include <invar/op/softmax.hpp>
#include <invar/op/sum.hpp>
#include <invar/schedule/tuned.hpp>
#include <invar/verify/compare.hpp>
#include <invar/verify/digest.hpp>
#include <invar/verify/random.hpp>
#include <invar/verify/self_check.hpp>
#include <invar/verify/self_check_matrix_unit.hpp>
#include <invar/version.hpp>

#endif
