// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dequantize.hpp"
#include "gguf_writer.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <vector>

using serve::gguf::TensorType;

namespace {

struct Case {
  TensorType type;
  std::vector<std::uint8_t> packed;
  std::vector<std::uint32_t> bits;
};

const Case cases[] = {
#include "dequantize_cases.inc"
};

std::vector<std::uint32_t> bits_of(TensorType type, const std::vector<std::uint8_t>& packed, std::size_t count) {
  std::vector<float> values(count);
  serve::dequantize(type, std::as_bytes(std::span(packed)), values);
  std::vector<std::uint32_t> bits;
  for (const float value : values) bits.push_back(std::bit_cast<std::uint32_t>(value));
  return bits;
}

}  // namespace

TEST_CASE("weights have the bits of an independent implementation") {
  for (const Case& c : cases) {
    INFO(serve::gguf::type_traits(c.type).name);
    CHECK(serve::can_dequantize(c.type));
    CHECK(bits_of(c.type, c.packed, c.bits.size()) == c.bits);
  }
}

TEST_CASE("floats pass through and NaN is canonical") {
  CHECK(bits_of(TensorType::f32, {0, 0, 0xc0, 0x3f, 1, 0, 0, 0x80}, 2) ==
        std::vector<std::uint32_t>{0x3fc00000u, 0x80000001u});
  CHECK(bits_of(TensorType::f32, {1, 2, 0x80, 0xff}, 1) == std::vector<std::uint32_t>{0x7fc00000u});
  CHECK(bits_of(TensorType::f16, {1, 0xfe}, 1) == std::vector<std::uint32_t>{0x7fc00000u});
  // A block whose scale is NaN, and one whose scale is infinite with a zero in it.
  std::vector<std::uint8_t> nan_scale(34, 1), infinite_scale(34, 0);
  nan_scale[1] = 0xfe;
  infinite_scale[1] = 0x7c;
  CHECK(bits_of(TensorType::q8_0, nan_scale, 32) == std::vector<std::uint32_t>(32, 0x7fc00000u));
  CHECK(bits_of(TensorType::q8_0, infinite_scale, 32) == std::vector<std::uint32_t>(32, 0x7fc00000u));
}

TEST_CASE("wrong lengths and types are refused") {
  const std::vector<std::byte> bytes(34);
  std::vector<float> out(32);
  CHECK_NOTHROW(serve::dequantize(TensorType::q8_0, bytes, out));
  CHECK_THROWS_AS(serve::dequantize(TensorType::q4_0, bytes, out), std::invalid_argument);
  CHECK_THROWS_AS(serve::dequantize(TensorType::q8_0, bytes, std::span(out).first(31)), std::invalid_argument);
  CHECK_THROWS_AS(serve::dequantize(TensorType::iq4_nl, bytes, out), std::invalid_argument);
  CHECK_FALSE(serve::can_dequantize(TensorType::iq4_nl));
}

TEST_CASE("parts of a tensor") {
  const auto file_bytes = serve_tests::GgufWriter()
                              .tensor("good", TensorType::q8_0, {32, 4}, 0x11)
                              .tensor("bad", TensorType::mxfp4, {32}, 0)
                              .bytes();
  const auto file = serve::gguf::File::parse(file_bytes, "test");
  std::vector<float> whole(128), part(64);
  serve::dequantize(file, file.tensor("good"), 0, whole);
  serve::dequantize(file, file.tensor("good"), 64, part);
  CHECK(std::vector<float>(whole.begin() + 64, whole.end()) == part);
  CHECK_THROWS_AS(serve::dequantize(file, file.tensor("good"), 96, part), std::invalid_argument);
  CHECK_THROWS_AS(serve::dequantize(file, file.tensor("good"), 1, part), std::invalid_argument);
  CHECK_THROWS_WITH_AS(serve::dequantize(file, file.tensor("bad"), 0, part),
                       doctest::Contains("tensor 'bad' has the element type MXFP4"), serve::gguf::Error);
}
