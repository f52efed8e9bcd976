// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Reads GGUF files, versions 2 and 3, little-endian: metadata by key and tensors by name.
///
/// The file is mapped read-only; strings and tensors are views into the mapping and live as long as the File.
/// Nothing in the file is believed: every length, count, type and offset is checked against what is left of the
/// file before it is used, and a file that breaks the format throws Error.
#ifndef SERVE_GGUF_HPP
#define SERVE_GGUF_HPP

#include "tensor_type.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace serve::gguf {

/// A file that is not a GGUF file, is damaged, or lacks something that was asked for. The message names the file,
/// what is wrong and where.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An array as it lies in the file: already checked, decoded only when it is asked for.
struct Array {
  std::uint32_t type;  ///< the format's number for the elements' type
  std::uint64_t count;
  std::span<const std::byte> bytes;
};

/// One metadata value. Integers and floats are kept in the widest type of their kind.
using Value = std::variant<std::int64_t, std::uint64_t, double, bool, std::string_view, Array>;

/// One tensor. The shape has the fastest-varying extent first, as in the file.
struct Tensor {
  std::string_view name;
  TensorType type;
  std::vector<std::uint64_t> shape;
  std::uint64_t elements;
  std::uint64_t offset;              ///< of the first byte, from the start of the file
  std::span<const std::byte> bytes;  ///< elements / block length · block bytes
};

class File {
 public:
  /// Maps and checks a file.
  static File open(const std::filesystem::path& path);

  /// Checks a file that is already in memory; `bytes` must outlive the result, `name` stands for it in messages.
  static File parse(std::span<const std::byte> bytes, std::string name);

  File(File&&) = default;
  File& operator=(File&&) = default;

  const std::string& name() const { return name_; }
  std::uint32_t version() const { return version_; }
  const std::map<std::string_view, Value>& metadata() const { return metadata_; }
  /// All tensors, in the order of the file.
  const std::vector<Tensor>& tensors() const { return tensors_; }

  bool has(std::string_view key) const { return metadata_.contains(key); }

  /// The value of a key as T: bool, an integer type, float, double or std::string_view. Throws Error when the key
  /// is missing, holds another kind of value, or a number that T cannot hold.
  template <class T>
  T get(std::string_view key) const {
    return convert<T>(key, at(key));
  }

  /// The same, with a default for a missing key. A key that is there but of the wrong kind still throws.
  template <class T>
  T get_or(std::string_view key, T otherwise) const {
    return has(key) ? get<T>(key) : otherwise;
  }

  /// An array of T, with the conversions and errors of get.
  template <class T>
  std::vector<T> get_array(std::string_view key) const;

  /// The tensor with this name, or nullptr.
  const Tensor* find_tensor(std::string_view name) const;

  /// The tensor with this name; throws Error when there is none.
  const Tensor& tensor(std::string_view name) const;

  /// Throws Error with the file's name in front of the message.
  [[noreturn]] void fail(const std::string& message) const;

 private:
  class Parser;

  File() = default;
  const Value& at(std::string_view key) const;
  const Array& array_at(std::string_view key) const;
  Value next_element(const Array& array, std::uint64_t& position) const;
  [[noreturn]] void wrong_kind(std::string_view key, const char* expected) const;

  template <class T, class Number>
  T convert_number(std::string_view key, Number number) const;
  template <class T>
  T convert(std::string_view key, const Value& value) const;

  std::string name_;
  std::shared_ptr<const void> mapping_;  // unmaps when the last File goes
  std::uint32_t version_ = 0;
  std::map<std::string_view, Value> metadata_;
  std::vector<Tensor> tensors_;
  std::map<std::string_view, std::size_t> tensor_index_;
};

/// Text from a file, cut to 80 bytes and with everything but printable ASCII replaced, for error messages.
std::string printable(std::string_view text);

template <class T, class Number>
T File::convert_number(std::string_view key, Number number) const {
  if constexpr (std::is_floating_point_v<T>) {
    if constexpr (std::is_floating_point_v<Number>) return static_cast<T>(number);
    wrong_kind(key, "a floating-point number");
  } else {
    if constexpr (std::is_integral_v<Number>) {
      if (std::in_range<T>(number)) return static_cast<T>(number);
      fail("metadata key '" + printable(key) + "' is out of range: " + std::to_string(number));
    }
    wrong_kind(key, "an integer");
  }
}

template <class T>
T File::convert(std::string_view key, const Value& value) const {
  if constexpr (std::is_same_v<T, bool>) {
    if (const bool* flag = std::get_if<bool>(&value)) return *flag;
    wrong_kind(key, "a boolean");
  } else if constexpr (std::is_same_v<T, std::string_view>) {
    if (const auto* text = std::get_if<std::string_view>(&value)) return *text;
    wrong_kind(key, "a string");
  } else {
    static_assert(std::is_arithmetic_v<T>, "metadata is read as bool, a number or std::string_view");
    if (const auto* number = std::get_if<std::uint64_t>(&value)) return convert_number<T>(key, *number);
    if (const auto* number = std::get_if<std::int64_t>(&value)) return convert_number<T>(key, *number);
    if (const auto* number = std::get_if<double>(&value)) return convert_number<T>(key, *number);
    wrong_kind(key, "a number");
  }
}

template <class T>
std::vector<T> File::get_array(std::string_view key) const {
  const Array& array = array_at(key);
  std::vector<T> result;
  result.reserve(array.count);
  for (std::uint64_t i = 0, position = 0; i < array.count; ++i)
    result.push_back(convert<T>(key, next_element(array, position)));
  return result;
}

}  // namespace serve::gguf

#endif
