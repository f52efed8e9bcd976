// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dequantize.hpp"

#include <invar/num/arithmetic.hpp>
#include <invar/num/types.hpp>

#include <cstring>
#include <stdexcept>

namespace serve {
namespace {

using Byte = std::uint8_t;

float half(const Byte* p) {
  std::uint16_t bits;
  std::memcpy(&bits, p, sizeof(bits));
  return static_cast<float>(invar::float16_t::from_bits(bits));
}

/// scale · q + offset. An offset of −0 leaves the product as it is, the sign of zero included.
float weight(float scale, int q, float offset = -0.0f) {
  return invar::num::canonical(invar::num::fma(scale, static_cast<float>(q), offset));
}

/// scale · q, exact for the integers that occur here.
float scaled(float scale, int q) { return invar::num::mul(scale, static_cast<float>(q)); }

int low(Byte b) { return b & 0x0f; }
int high(Byte b) { return b >> 4; }
int bit(Byte b, int i) { return (b >> i) & 1; }
int as_signed(Byte b) { return static_cast<std::int8_t>(b); }

void f32_block(const Byte* in, float* out) {
  std::memcpy(out, in, sizeof(float));
  *out = invar::num::canonical(*out);
}

void f16_block(const Byte* in, float* out) { *out = invar::num::canonical(half(in)); }

void bf16_block(const Byte* in, float* out) {
  std::uint16_t bits;
  std::memcpy(&bits, in, sizeof(bits));
  *out = invar::num::canonical(static_cast<float>(invar::bfloat16_t::from_bits(bits)));
}

// In the 32-element types byte i holds elements i (low half) and i + 16 (high half).

void q4_0_block(const Byte* in, float* out) {
  const float d = half(in);
  const Byte* q = in + 2;
  for (int i = 0; i < 16; ++i) {
    out[i] = weight(d, low(q[i]) - 8);
    out[i + 16] = weight(d, high(q[i]) - 8);
  }
}

void q4_1_block(const Byte* in, float* out) {
  const float d = half(in);
  const float m = half(in + 2);
  const Byte* q = in + 4;
  for (int i = 0; i < 16; ++i) {
    out[i] = weight(d, low(q[i]), m);
    out[i + 16] = weight(d, high(q[i]), m);
  }
}

/// The fifth bits of the 32 elements, one bit each, in ascending order.
int fifth(const Byte* bits, int i) { return bit(bits[i / 8], i % 8) << 4; }

void q5_0_block(const Byte* in, float* out) {
  const float d = half(in);
  const Byte* h = in + 2;
  const Byte* q = in + 6;
  for (int i = 0; i < 16; ++i) {
    out[i] = weight(d, (low(q[i]) | fifth(h, i)) - 16);
    out[i + 16] = weight(d, (high(q[i]) | fifth(h, i + 16)) - 16);
  }
}

void q5_1_block(const Byte* in, float* out) {
  const float d = half(in);
  const float m = half(in + 2);
  const Byte* h = in + 4;
  const Byte* q = in + 8;
  for (int i = 0; i < 16; ++i) {
    out[i] = weight(d, low(q[i]) | fifth(h, i), m);
    out[i + 16] = weight(d, high(q[i]) | fifth(h, i + 16), m);
  }
}

void q8_0_block(const Byte* in, float* out) {
  const float d = half(in);
  for (int i = 0; i < 32; ++i) out[i] = weight(d, as_signed(in[2 + i]));
}

// The K types: 256 elements in sub-blocks of 16 or 32, each with its own small integer scale.

/// 16 scale bytes (low half: scale, high half: minimum), 64 bytes of two-bit values, d, dmin.
void q2_k_block(const Byte* in, float* out) {
  const Byte* scales = in;
  const Byte* q = in + 16;
  const float d = half(in + 80);
  const float dmin = half(in + 82);
  for (int i = 0; i < 256; ++i) {
    const Byte s = scales[i / 16];
    const int value = (q[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2)) & 3;
    out[i] = weight(scaled(d, low(s)), value, -scaled(dmin, high(s)));
  }
}

/// 32 bytes of third bits (a set bit means: subtract nothing), 64 bytes of two-bit values, 12 bytes with 16 scales
/// of six bits, d.
void q3_k_block(const Byte* in, float* out) {
  const Byte* third = in;
  const Byte* q = in + 32;
  const Byte* packed = in + 96;
  const float d = half(in + 108);
  int scales[16];
  for (int i = 0; i < 16; ++i) {
    const int four = i < 8 ? low(packed[i]) : high(packed[i - 8]);
    const int two = (packed[8 + i % 4] >> (i / 4 * 2)) & 3;
    scales[i] = (four | (two << 4)) - 32;
  }
  for (int i = 0; i < 256; ++i) {
    const int value = (q[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2)) & 3;
    out[i] = weight(scaled(d, scales[i / 16]), value - (bit(third[i % 32], i / 32) ? 0 : 4));
  }
}

/// The eight six-bit scales and minima that Q4_K and Q5_K pack into 12 bytes.
struct ScalesAndMinima {
  int scale[8];
  int minimum[8];

  explicit ScalesAndMinima(const Byte* packed) {
    for (int i = 0; i < 4; ++i) {
      scale[i] = packed[i] & 0x3f;
      minimum[i] = packed[4 + i] & 0x3f;
      scale[4 + i] = low(packed[8 + i]) | (packed[i] >> 6 << 4);
      minimum[4 + i] = high(packed[8 + i]) | (packed[4 + i] >> 6 << 4);
    }
  }
};

/// d, dmin, 12 bytes of scales and minima, 128 bytes of four-bit values: each 32 bytes serve two sub-blocks.
void q4_k_block(const Byte* in, float* out) {
  const float d = half(in);
  const float dmin = half(in + 2);
  const ScalesAndMinima sub(in + 4);
  const Byte* q = in + 16;
  for (int i = 0; i < 256; ++i) {
    const Byte b = q[i / 64 * 32 + i % 32];
    const int j = i / 32;
    out[i] = weight(scaled(d, sub.scale[j]), j % 2 ? high(b) : low(b), -scaled(dmin, sub.minimum[j]));
  }
}

/// As Q4_K, with 32 bytes of fifth bits in front of the values: bit j of byte i belongs to sub-block j.
void q5_k_block(const Byte* in, float* out) {
  const float d = half(in);
  const float dmin = half(in + 2);
  const ScalesAndMinima sub(in + 4);
  const Byte* fifths = in + 16;
  const Byte* q = in + 48;
  for (int i = 0; i < 256; ++i) {
    const Byte b = q[i / 64 * 32 + i % 32];
    const int j = i / 32;
    const int value = (j % 2 ? high(b) : low(b)) | (bit(fifths[i % 32], j) << 4);
    out[i] = weight(scaled(d, sub.scale[j]), value, -scaled(dmin, sub.minimum[j]));
  }
}

/// 128 bytes of low four bits, 64 bytes of high two bits, 16 signed scales, d.
void q6_k_block(const Byte* in, float* out) {
  const Byte* lower = in;
  const Byte* upper = in + 128;
  const Byte* scales = in + 192;
  const float d = half(in + 208);
  for (int i = 0; i < 256; ++i) {
    const int within = i % 128;
    const Byte b = lower[i / 128 * 64 + within % 64];
    const int four = within < 64 ? low(b) : high(b);
    const int two = (upper[i / 128 * 32 + within % 32] >> (within / 32 * 2)) & 3;
    out[i] = weight(scaled(d, as_signed(scales[i / 16])), (four | (two << 4)) - 32);
  }
}

using BlockFunction = void (*)(const Byte*, float*);

BlockFunction block_function(gguf::TensorType type) {
  using enum gguf::TensorType;
  switch (type) {
    case f32: return f32_block;
    case f16: return f16_block;
    case bf16: return bf16_block;
    case q4_0: return q4_0_block;
    case q4_1: return q4_1_block;
    case q5_0: return q5_0_block;
    case q5_1: return q5_1_block;
    case q8_0: return q8_0_block;
    case q2_k: return q2_k_block;
    case q3_k: return q3_k_block;
    case q4_k: return q4_k_block;
    case q5_k: return q5_k_block;
    case q6_k: return q6_k_block;
    default: return nullptr;
  }
}

}  // namespace

bool can_dequantize(gguf::TensorType type) { return block_function(type) != nullptr; }

void dequantize(gguf::TensorType type, std::span<const std::byte> bytes, std::span<float> out) {
  const BlockFunction function = block_function(type);
  const gguf::TypeTraits& traits = gguf::type_traits(type);
  if (!function) throw std::invalid_argument("dequantize: type " + std::string(traits.name) + " is not supported");
  const std::size_t blocks = out.size() / traits.elements;
  if (out.size() % traits.elements != 0 || bytes.size() != blocks * traits.bytes)
    throw std::invalid_argument("dequantize: the lengths are not those of whole blocks of " + std::string(traits.name));
  const auto* in = reinterpret_cast<const Byte*>(bytes.data());
  for (std::size_t i = 0; i < blocks; ++i) function(in + i * traits.bytes, out.data() + i * traits.elements);
}

void require_dequantizable(const gguf::File& file, const gguf::Tensor& tensor) {
  if (!can_dequantize(tensor.type))
    file.fail("tensor '" + gguf::printable(tensor.name) + "' has the element type " +
              std::string(gguf::type_traits(tensor.type).name) +
              "; supported are F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K, Q3_K, Q4_K, Q5_K and Q6_K");
}

void dequantize(const gguf::File& file, const gguf::Tensor& tensor, std::uint64_t first, std::span<float> out) {
  require_dequantizable(file, tensor);
  const gguf::TypeTraits& traits = gguf::type_traits(tensor.type);
  if (first > tensor.elements || out.size() > tensor.elements - first || first % traits.elements != 0)
    throw std::invalid_argument("dequantize: elements outside tensor '" + gguf::printable(tensor.name) + "'");
  const std::uint64_t begin = first / traits.elements * traits.bytes;
  const std::uint64_t length = out.size() / traits.elements * traits.bytes;
  dequantize(tensor.type, tensor.bytes.subspan(begin, length), out);
}

}  // namespace serve
