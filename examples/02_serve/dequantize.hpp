// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Packed weights as floats.
///
/// All types agree on one rule, which fixes the bits: a weight is fma(s, q, m), rounded once, with s the block's (or
/// sub-block's) scale, q the small integer stored and m the offset, −0 where the type has none. Scales come from
/// fp16 and have at most 18 significant bits, so every product is exact and the fma equals the multiply-then-add
/// of other readers. A NaN scale gives canonical NaNs.
#ifndef SERVE_DEQUANTIZE_HPP
#define SERVE_DEQUANTIZE_HPP

#include "gguf.hpp"

#include <cstdint>
#include <span>

namespace serve {

/// True for F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K, Q3_K, Q4_K, Q5_K and Q6_K.
bool can_dequantize(gguf::TensorType type);

/// Throws gguf::Error, naming file, tensor and type, where a tensor's type is not covered.
void require_dequantizable(const gguf::File& file, const gguf::Tensor& tensor);

/// Converts whole blocks: `bytes` must be as long as `out.size()` elements of the type take. Throws
/// std::invalid_argument where the type is not covered or the lengths do not match.
void dequantize(gguf::TensorType type, std::span<const std::byte> bytes, std::span<float> out);

/// Converts elements [first, first + out.size()) of a tensor, counted in storage order; both ends must lie on block
/// boundaries. Throws gguf::Error, naming file, tensor and type, where the type is not covered.
void dequantize(const gguf::File& file, const gguf::Tensor& tensor, std::uint64_t first, std::span<float> out);

}  // namespace serve

#endif
