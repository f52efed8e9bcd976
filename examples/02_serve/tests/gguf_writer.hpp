// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Writes small GGUF files into memory.
#ifndef SERVE_TESTS_GGUF_WRITER_HPP
#define SERVE_TESTS_GGUF_WRITER_HPP

#include "tensor_type.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace serve_tests {

using Bytes = std::vector<std::byte>;

template <class T>
void append(Bytes& bytes, T value) {
  for (const std::byte byte : std::bit_cast<std::array<std::byte, sizeof(T)>>(value)) bytes.push_back(byte);
}

inline void append_text(Bytes& bytes, std::string_view text) {
  append(bytes, static_cast<std::uint64_t>(text.size()));
  for (const char c : text) bytes.push_back(static_cast<std::byte>(c));
}

class GgufWriter {
 public:
  explicit GgufWriter(std::uint32_t version = 3, std::uint64_t alignment = 32)
      : version_(version), alignment_(alignment) {}

  template <class T>
  GgufWriter& entry(std::string_view key, const T& value) {
    begin_entry(key, type_number<T>());
    append_value(entries_, value);
    return *this;
  }

  template <class T>
  GgufWriter& array(std::string_view key, const std::vector<T>& values) {
    begin_entry(key, 9);
    append(entries_, type_number<T>());
    append(entries_, static_cast<std::uint64_t>(values.size()));
    for (const T& value : values) append_value(entries_, value);
    return *this;
  }

  /// A tensor filled with `fill`; the shape has its fastest extent first.
  GgufWriter& tensor(std::string_view name, serve::gguf::TensorType type, const std::vector<std::uint64_t>& shape,
                     std::uint8_t fill = 0) {
    const serve::gguf::TypeTraits& traits = serve::gguf::type_traits(type);
    std::uint64_t size = traits.bytes;
    for (std::size_t i = 0; i < shape.size(); ++i) size *= i == 0 ? shape[i] / traits.elements : shape[i];
    return tensor(name, type, shape, Bytes(size, static_cast<std::byte>(fill)));
  }

  /// A tensor with these bytes.
  GgufWriter& tensor(std::string_view name, serve::gguf::TensorType type, const std::vector<std::uint64_t>& shape,
                     const Bytes& content) {
    pad(data_);
    append_text(tensors_, name);
    append(tensors_, static_cast<std::uint32_t>(shape.size()));
    for (const std::uint64_t extent : shape) append(tensors_, extent);
    append(tensors_, static_cast<std::uint32_t>(type));
    append(tensors_, static_cast<std::uint64_t>(data_.size()));
    data_.insert(data_.end(), content.begin(), content.end());
    ++tensor_count_;
    return *this;
  }

  Bytes bytes() const {
    Bytes file;
    for (const char c : {'G', 'G', 'U', 'F'}) file.push_back(static_cast<std::byte>(c));
    append(file, version_);
    append(file, tensor_count_);
    append(file, entry_count_);
    file.insert(file.end(), entries_.begin(), entries_.end());
    file.insert(file.end(), tensors_.begin(), tensors_.end());
    if (tensor_count_ > 0) pad(file);
    file.insert(file.end(), data_.begin(), data_.end());
    return file;
  }

 private:
  template <class T>
  static std::uint32_t type_number() {
    if constexpr (std::is_same_v<T, std::uint8_t>) return 0;
    if constexpr (std::is_same_v<T, std::int8_t>) return 1;
    if constexpr (std::is_same_v<T, std::uint16_t>) return 2;
    if constexpr (std::is_same_v<T, std::int16_t>) return 3;
    if constexpr (std::is_same_v<T, std::uint32_t>) return 4;
    if constexpr (std::is_same_v<T, std::int32_t>) return 5;
    if constexpr (std::is_same_v<T, float>) return 6;
    if constexpr (std::is_same_v<T, bool>) return 7;
    if constexpr (std::is_same_v<T, std::string>) return 8;
    if constexpr (std::is_same_v<T, std::uint64_t>) return 10;
    if constexpr (std::is_same_v<T, std::int64_t>) return 11;
    if constexpr (std::is_same_v<T, double>) return 12;
  }

  template <class T>
  static void append_value(Bytes& bytes, const T& value) {
    if constexpr (std::is_same_v<T, std::string>)
      append_text(bytes, value);
    else
      append(bytes, value);
  }

  void begin_entry(std::string_view key, std::uint32_t type) {
    append_text(entries_, key);
    append(entries_, type);
    ++entry_count_;
  }

  void pad(Bytes& bytes) const {
    while (bytes.size() % alignment_ != 0) bytes.push_back(std::byte{0});
  }

  std::uint32_t version_;
  std::uint64_t alignment_;
  std::uint64_t entry_count_ = 0;
  std::uint64_t tensor_count_ = 0;
  Bytes entries_;
  Bytes tensors_;
  Bytes data_;
};

}  // namespace serve_tests

#endif
