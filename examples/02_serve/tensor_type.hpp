// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The element types that a GGUF file may name, and how they are packed.
#ifndef SERVE_TENSOR_TYPE_HPP
#define SERVE_TENSOR_TYPE_HPP

#include <cstdint>
#include <string_view>

namespace serve::gguf {

/// Element types by their number in the file. Numbers that are missing here were withdrawn from the format.
enum class TensorType : std::uint32_t {
  f32 = 0,
  f16 = 1,
  q4_0 = 2,
  q4_1 = 3,
  q5_0 = 6,
  q5_1 = 7,
  q8_0 = 8,
  q2_k = 10,
  q3_k = 11,
  q4_k = 12,
  q5_k = 13,
  q6_k = 14,
  iq2_xxs = 16,
  iq2_xs = 17,
  iq3_xxs = 18,
  iq1_s = 19,
  iq4_nl = 20,
  iq3_s = 21,
  iq2_s = 22,
  iq4_xs = 23,
  i8 = 24,
  i16 = 25,
  i32 = 26,
  i64 = 27,
  f64 = 28,
  iq1_m = 29,
  bf16 = 30,
  tq1_0 = 34,
  tq2_0 = 35,
  mxfp4 = 39
};

/// How one type is packed: `elements` values share a block of `bytes` bytes.
struct TypeTraits {
  TensorType type;
  std::string_view name;
  std::uint32_t elements;
  std::uint32_t bytes;
};

/// The packing of the type with this number, or nullptr where the number is not a known type.
const TypeTraits* find_type_traits(std::uint32_t number);

/// The packing of a known type.
const TypeTraits& type_traits(TensorType type);

}  // namespace serve::gguf

#endif
