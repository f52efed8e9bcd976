// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "gguf.hpp"
#include "gguf_writer.hpp"

#include <doctest/doctest.h>

#include <unistd.h>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

using serve::gguf::Error;
using serve::gguf::File;
using serve_tests::Bytes;
using serve_tests::GgufWriter;

namespace {

std::string message_of(const Bytes& bytes) {
  try {
    File::parse(bytes, "test");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

/// `bytes` with the first occurrence of `text` found and `value` written `distance` bytes behind its end.
template <class T>
Bytes patched(Bytes bytes, std::string_view text, std::size_t distance, T value) {
  const std::string_view view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::size_t found = view.find(text);
  REQUIRE(found != std::string_view::npos);
  std::memcpy(bytes.data() + found + text.size() + distance, &value, sizeof(T));
  return bytes;
}

}  // namespace

TEST_CASE("values of every type come back") {
  GgufWriter writer;
  writer.entry<std::uint8_t>("u8", 200)
      .entry<std::int8_t>("i8", -100)
      .entry<std::uint16_t>("u16", 60000)
      .entry<std::int16_t>("i16", -30000)
      .entry<std::uint32_t>("u32", 4000000000u)
      .entry<std::int32_t>("i32", -2000000000)
      .entry<std::uint64_t>("u64", ~std::uint64_t{0})
      .entry<std::int64_t>("i64", std::int64_t{-1} << 62)
      .entry<float>("f32", 1.5f)
      .entry<double>("f64", 0.1)
      .entry<bool>("bool", true)
      .entry<std::string>("string", "text")
      .array<std::int32_t>("numbers", {1, -2, 3})
      .array<float>("floats", {0.5f, -0.25f})
      .array<bool>("flags", {true, false})
      .array<std::string>("strings", {"x", "", "yz"})
      .array<std::uint8_t>("none", {});
  const Bytes bytes = writer.bytes();
  const File file = File::parse(bytes, "test");
  CHECK(file.version() == 3);
  CHECK(file.metadata().size() == 17);
  CHECK(file.get<int>("u8") == 200);
  CHECK(file.get<std::int8_t>("i8") == -100);
  CHECK(file.get<std::uint16_t>("u16") == 60000);
  CHECK(file.get<std::int64_t>("i16") == -30000);
  CHECK(file.get<std::uint32_t>("u32") == 4000000000u);
  CHECK(file.get<std::int32_t>("i32") == -2000000000);
  CHECK(file.get<std::uint64_t>("u64") == ~std::uint64_t{0});
  CHECK(file.get<std::int64_t>("i64") == std::int64_t{-1} << 62);
  CHECK(file.get<float>("f32") == 1.5f);
  CHECK(file.get<double>("f64") == 0.1);
  CHECK(file.get<bool>("bool"));
  CHECK(file.get<std::string_view>("string") == "text");
  CHECK(file.get_array<int>("numbers") == std::vector<int>{1, -2, 3});
  CHECK(file.get_array<float>("floats") == std::vector<float>{0.5f, -0.25f});
  CHECK(file.get_array<bool>("flags") == std::vector<bool>{true, false});
  CHECK(file.get_array<std::string_view>("strings") == std::vector<std::string_view>{"x", "", "yz"});
  CHECK(file.get_array<int>("none").empty());

  CHECK(file.get_or<int>("absent", 7) == 7);
  CHECK_THROWS_WITH_AS(file.get<int>("absent"), "test: metadata key 'absent' is missing", Error);
  CHECK_THROWS_WITH_AS(file.get<int>("string"), "test: metadata key 'string' does not hold a number", Error);
  CHECK_THROWS_WITH_AS(file.get_or<bool>("u8", true), "test: metadata key 'u8' does not hold a boolean", Error);
  CHECK_THROWS_WITH_AS(file.get<int>("f32"), "test: metadata key 'f32' does not hold an integer", Error);
  CHECK_THROWS_WITH_AS(file.get<float>("u8"), "test: metadata key 'u8' does not hold a floating-point number", Error);
  CHECK_THROWS_WITH_AS(file.get<std::uint32_t>("i8"), "test: metadata key 'i8' is out of range: -100", Error);
  CHECK_THROWS_WITH_AS(file.get<int>("u32"), "test: metadata key 'u32' is out of range: 4000000000", Error);
  CHECK_THROWS_WITH_AS(file.get<int>("numbers"), "test: metadata key 'numbers' does not hold a number", Error);
  CHECK_THROWS_WITH_AS(file.get_array<int>("u8"), "test: metadata key 'u8' does not hold an array", Error);
  CHECK_THROWS_WITH_AS(file.get_array<int>("strings"), "test: metadata key 'strings' does not hold a number", Error);
}

TEST_CASE("tensors lie where the file says") {
  using enum serve::gguf::TensorType;
  for (const std::uint32_t version : {2u, 3u}) {
    for (const std::uint32_t alignment : {8u, 32u, 64u}) {
      GgufWriter writer(version, alignment);
      writer.entry<std::uint32_t>("general.alignment", alignment)
          .tensor("a", f32, {3}, 0x11)
          .tensor("b", q8_0, {64, 2}, 0x22);
      const Bytes bytes = writer.bytes();
      const File file = File::parse(bytes, "test");
      REQUIRE(file.tensors().size() == 2);
      CHECK(file.tensor("a").bytes.size() == 12);
      CHECK(file.tensor("b").bytes.size() == 4 * 34);
      CHECK(file.tensor("b").elements == 128);
      CHECK(file.tensor("b").shape == std::vector<std::uint64_t>{64, 2});
      CHECK(file.tensor("b").offset % alignment == 0);
      for (const std::byte b : file.tensor("a").bytes) CHECK(b == std::byte{0x11});
      for (const std::byte b : file.tensor("b").bytes) CHECK(b == std::byte{0x22});
      CHECK(file.find_tensor("c") == nullptr);
      CHECK_THROWS_WITH_AS(file.tensor("c"), "test: tensor 'c' is missing", Error);
    }
  }
}

TEST_CASE("what breaks the format is named") {
  using enum serve::gguf::TensorType;
  const auto contains = [](const Bytes& bytes, const char* expected) {
    const std::string message = message_of(bytes);
    INFO("expected '", expected, "', found '", message, "'");
    CHECK(message.find(expected) != std::string::npos);
  };
  const Bytes good = GgufWriter().entry<std::uint32_t>("number", 1).tensor("weight", q8_0, {32, 2}).bytes();
  CHECK(message_of(good) == "no error");
  contains(Bytes(), "not a GGUF file");
  contains(Bytes(100, std::byte{'x'}), "not a GGUF file");
  contains(patched(good, "GGUF", 0, std::uint32_t{1}), "version 1 is not supported");
  contains(patched(good, "GGUF", 0, std::uint32_t{0x03000000}), "big-endian");
  contains(patched(good, "GGUF", 4, ~std::uint64_t{0}), "tensors and is too short");
  contains(patched(good, "GGUF", 12, std::uint64_t{1} << 40), "metadata entries and is too short");
  contains(patched(good, "number", 0, std::uint32_t{13}), "unknown value type 13");
  contains(patched(good, "number", 0, std::uint32_t{8}), "bytes, which the file does not have");
  contains(patched(good, "weight", 0, std::uint32_t{5}), "5 dimensions");
  contains(patched(good, "weight", 0, std::uint32_t{0}), "0 dimensions");
  contains(patched(good, "weight", 4, std::uint64_t{0}), "extent of zero");
  contains(patched(good, "weight", 4, std::uint64_t{33}), "no multiple of the 32");
  contains(patched(good, "weight", 4, std::uint64_t{1} << 63), "63 bits");
  contains(patched(good, "weight", 4, std::uint64_t{1} << 60), "larger than the whole file");
  contains(patched(good, "weight", 20, std::uint32_t{4}), "unknown element type 4");
  contains(patched(good, "weight", 24, std::uint64_t{1}), "no multiple of the alignment");
  contains(patched(good, "weight", 24, std::uint64_t{32}), "may be truncated");
  contains(patched(good, "weight", 24, ~std::uint64_t{31}), "may be truncated");
  contains(GgufWriter().entry<bool>("a", true).entry<bool>("a", true).bytes(), "occurs twice");
  contains(GgufWriter().tensor("a", f32, {1}).tensor("a", f32, {1}).bytes(), "occurs twice");
  contains(GgufWriter().entry<std::string>("", "x").bytes(), "empty key");
  contains(GgufWriter().entry<std::uint32_t>("general.alignment", 24).bytes(), "power of two");
  contains(patched(GgufWriter().entry<bool>("flag", true).bytes(), "flag", 4, std::uint8_t{2}),
           "boolean with the value 2");
  const Bytes array = GgufWriter().array<std::int32_t>("list", {1, 2}).bytes();
  contains(patched(array, "list", 4, std::uint32_t{9}), "array of arrays");
  contains(patched(array, "list", 4, std::uint32_t{99}), "unknown value type 99");
  contains(patched(array, "list", 8, std::uint64_t{3}), "claims 3 elements");
  const Bytes two = GgufWriter().tensor("first", f32, {8}).tensor("second", f32, {8}).bytes();
  contains(patched(two, "second", 16, std::uint64_t{0}), "share bytes");
}

TEST_CASE("messages show no control characters of the file") {
  CHECK(serve::gguf::printable("a\x1b[31m\n\xc3\xa9") == "a?[31m???");
  CHECK(serve::gguf::printable(std::string(100, 'x')) == std::string(80, 'x') + "...");
}

TEST_CASE("files on disk") {
  const auto directory = std::filesystem::temp_directory_path() / ("serve_test_" + std::to_string(::getpid()));
  std::filesystem::create_directory(directory);
  const auto path = directory / "model.gguf";
  const Bytes bytes = GgufWriter().entry<std::uint32_t>("number", 42).bytes();
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  CHECK(File::open(path).get<int>("number") == 42);
  const File moved = [&] { return File::open(path); }();
  CHECK(moved.get<int>("number") == 42);
  CHECK_THROWS_AS(File::open(directory), Error);
  CHECK_THROWS_AS(File::open(directory / "absent"), Error);
  std::ofstream(directory / "empty").close();
  CHECK_THROWS_AS(File::open(directory / "empty"), Error);
  std::filesystem::remove_all(directory);
}
