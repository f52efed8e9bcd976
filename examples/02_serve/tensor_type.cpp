// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tensor_type.hpp"

#include <stdexcept>

namespace serve::gguf {
namespace {

constexpr TypeTraits known_types[] = {
    {TensorType::f32, "F32", 1, 4},
    {TensorType::f16, "F16", 1, 2},
    {TensorType::q4_0, "Q4_0", 32, 18},
    {TensorType::q4_1, "Q4_1", 32, 20},
    {TensorType::q5_0, "Q5_0", 32, 22},
    {TensorType::q5_1, "Q5_1", 32, 24},
    {TensorType::q8_0, "Q8_0", 32, 34},
    {TensorType::q2_k, "Q2_K", 256, 84},
    {TensorType::q3_k, "Q3_K", 256, 110},
    {TensorType::q4_k, "Q4_K", 256, 144},
    {TensorType::q5_k, "Q5_K", 256, 176},
    {TensorType::q6_k, "Q6_K", 256, 210},
    {TensorType::iq2_xxs, "IQ2_XXS", 256, 66},
    {TensorType::iq2_xs, "IQ2_XS", 256, 74},
    {TensorType::iq3_xxs, "IQ3_XXS", 256, 98},
    {TensorType::iq1_s, "IQ1_S", 256, 50},
    {TensorType::iq4_nl, "IQ4_NL", 32, 18},
    {TensorType::iq3_s, "IQ3_S", 256, 110},
    {TensorType::iq2_s, "IQ2_S", 256, 82},
    {TensorType::iq4_xs, "IQ4_XS", 256, 136},
    {TensorType::i8, "I8", 1, 1},
    {TensorType::i16, "I16", 1, 2},
    {TensorType::i32, "I32", 1, 4},
    {TensorType::i64, "I64", 1, 8},
    {TensorType::f64, "F64", 1, 8},
    {TensorType::iq1_m, "IQ1_M", 256, 56},
    {TensorType::bf16, "BF16", 1, 2},
    {TensorType::tq1_0, "TQ1_0", 256, 54},
    {TensorType::tq2_0, "TQ2_0", 256, 66},
    {TensorType::mxfp4, "MXFP4", 32, 17},
};

}  // namespace

const TypeTraits* find_type_traits(std::uint32_t number) {
  for (const TypeTraits& traits : known_types)
    if (static_cast<std::uint32_t>(traits.type) == number) return &traits;
  return nullptr;
}

const TypeTraits& type_traits(TensorType type) {
  if (const TypeTraits* traits = find_type_traits(static_cast<std::uint32_t>(type))) return *traits;
  throw std::logic_error("type_traits: not a tensor type");
}

}  // namespace serve::gguf
