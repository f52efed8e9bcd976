// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "gguf.hpp"

#include "mapped_file.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace serve::gguf {
namespace {

static_assert(std::endian::native == std::endian::little, "this reader takes bytes as they are; GGUF is little-endian");

enum class ValueType : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64 };

constexpr std::uint64_t smallest_entry = 8 + 4 + 1;                  // key length, value type, one byte
constexpr std::uint64_t smallest_tensor = 8 + 4 + 8 + 4 + 8;         // name length, rank, extent, type, offset
constexpr std::uint64_t largest_alignment = std::uint64_t{1} << 30;  // far beyond any page size

/// Reads values one after the other. The position never passes the end: each step is checked before it is taken.
class Reader {
 public:
  Reader(const File& file, std::span<const std::byte> bytes) : file_(file), bytes_(bytes) {}

  std::uint64_t position() const { return position_; }
  std::uint64_t left() const { return bytes_.size() - position_; }

  [[noreturn]] void fail(const std::string& message) const {
    file_.fail(message + " (at byte " + std::to_string(position_) + " of " + std::to_string(bytes_.size()) + ")");
  }

  void skip(std::uint64_t count) { position_ += count; }

  template <class T>
  T read(const std::string& what) {
    if (left() < sizeof(T)) fail("the file ends inside " + what);
    T value;
    std::memcpy(&value, bytes_.data() + position_, sizeof(T));
    position_ += sizeof(T);
    return value;
  }

  std::string_view read_string(const std::string& what) {
    const auto length = read<std::uint64_t>(what);
    if (length > left()) fail(what + " claims " + std::to_string(length) + " bytes, which the file does not have");
    const std::string_view text(reinterpret_cast<const char*>(bytes_.data() + position_), length);
    position_ += length;
    return text;
  }

  Value read_value(std::uint32_t type, const std::string& what) {
    switch (static_cast<ValueType>(type)) {
      case ValueType::u8: return std::uint64_t{read<std::uint8_t>(what)};
      case ValueType::u16: return std::uint64_t{read<std::uint16_t>(what)};
      case ValueType::u32: return std::uint64_t{read<std::uint32_t>(what)};
      case ValueType::u64: return read<std::uint64_t>(what);
      case ValueType::i8: return std::int64_t{read<std::int8_t>(what)};
      case ValueType::i16: return std::int64_t{read<std::int16_t>(what)};
      case ValueType::i32: return std::int64_t{read<std::int32_t>(what)};
      case ValueType::i64: return read<std::int64_t>(what);
      case ValueType::f32: return double{read<float>(what)};
      case ValueType::f64: return read<double>(what);
      case ValueType::boolean: return read_boolean(what);
      case ValueType::string: return read_string(what);
      case ValueType::array: break;  // has a reader of its own
    }
    fail(what + " has the unknown value type " + std::to_string(type));
  }

  Array read_array(const std::string& what) {
    const auto type = read<std::uint32_t>(what);
    const auto count = read<std::uint64_t>(what);
    if (type == static_cast<std::uint32_t>(ValueType::array))
      fail(what + " is an array of arrays, which is not supported");
    if (type > static_cast<std::uint32_t>(ValueType::f64))
      fail(what + " is an array of the unknown value type " + std::to_string(type));
    if (count > left() / smallest_size(static_cast<ValueType>(type)))
      fail(what + " claims " + std::to_string(count) + " elements, which the file does not have");
    const std::uint64_t start = position_;
    for (std::uint64_t i = 0; i < count; ++i) read_value(type, what);
    return {type, count, bytes_.subspan(start, position_ - start)};
  }

 private:
  bool read_boolean(const std::string& what) {
    const auto byte = read<std::uint8_t>(what);
    if (byte > 1) fail(what + " is a boolean with the value " + std::to_string(byte));
    return byte == 1;
  }

  /// Bytes that one element takes at least.
  static std::uint64_t smallest_size(ValueType type) {
    switch (type) {
      case ValueType::u8:
      case ValueType::i8:
      case ValueType::boolean: return 1;
      case ValueType::u16:
      case ValueType::i16: return 2;
      case ValueType::u32:
      case ValueType::i32:
      case ValueType::f32: return 4;
      default: return 8;
    }
  }

  const File& file_;
  std::span<const std::byte> bytes_;
  std::uint64_t position_ = 0;
};

}  // namespace

std::string printable(std::string_view text) {
  constexpr std::size_t limit = 80;
  std::string result(text.substr(0, limit));
  for (char& c : result)
    if (c < 0x20 || c > 0x7e) c = '?';
  return text.size() > limit ? result + "..." : result;
}

/// Walks through the bytes once.
class File::Parser {
 public:
  Parser(File& file, std::span<const std::byte> bytes) : file_(file), bytes_(bytes), reader_(file, bytes) {}

  void run() {
    read_header();
    for (std::uint64_t i = 0; i < entry_count_; ++i) read_entry(i);
    read_alignment();
    std::vector<std::uint64_t> sizes;
    for (std::uint64_t i = 0; i < tensor_count_; ++i) sizes.push_back(read_tensor(i));
    place_tensors(sizes);
  }

 private:
  [[noreturn]] void fail(const std::string& message) const { reader_.fail(message); }

  void read_header() {
    if (bytes_.size() < 4 || std::memcmp(bytes_.data(), "GGUF", 4) != 0)
      file_.fail("not a GGUF file: it does not begin with 'GGUF'");
    reader_.skip(4);
    file_.version_ = reader_.read<std::uint32_t>("the version");
    if (file_.version_ != 2 && file_.version_ != 3) {
      const bool swapped = (file_.version_ & 0xffffu) == 0 && file_.version_ != 0;
      fail(swapped ? "big-endian GGUF files are not supported"
                   : "GGUF version " + std::to_string(file_.version_) + " is not supported, only 2 and 3 are");
    }
    tensor_count_ = reader_.read<std::uint64_t>("the number of tensors");
    entry_count_ = reader_.read<std::uint64_t>("the number of metadata entries");
    if (entry_count_ > reader_.left() / smallest_entry)
      fail("the file claims " + std::to_string(entry_count_) + " metadata entries and is too short for them");
    if (tensor_count_ > reader_.left() / smallest_tensor)
      fail("the file claims " + std::to_string(tensor_count_) + " tensors and is too short for them");
  }

  void read_entry(std::uint64_t index) {
    const std::string_view key = reader_.read_string("the key of metadata entry " + std::to_string(index));
    if (key.empty()) fail("metadata entry " + std::to_string(index) + " has an empty key");
    const std::string what = "metadata key '" + printable(key) + "'";
    const auto type = reader_.read<std::uint32_t>(what);
    const bool is_array = type == static_cast<std::uint32_t>(ValueType::array);
    Value value = is_array ? Value(reader_.read_array(what)) : reader_.read_value(type, what);
    if (!file_.metadata_.emplace(key, std::move(value)).second) fail(what + " occurs twice");
  }

  void read_alignment() {
    alignment_ = file_.get_or<std::uint32_t>("general.alignment", 32);
    if (!std::has_single_bit(alignment_) || alignment_ > largest_alignment)
      fail("the alignment " + std::to_string(alignment_) + " is not a sensible power of two");
  }

  /// Reads the description of one tensor and returns its size in bytes.
  std::uint64_t read_tensor(std::uint64_t index) {
    Tensor tensor{};
    tensor.name = reader_.read_string("the name of tensor " + std::to_string(index));
    const std::string what = "tensor '" + printable(tensor.name) + "'";
    const auto rank = reader_.read<std::uint32_t>(what);
    if (rank < 1 || rank > 4) fail(what + " has " + std::to_string(rank) + " dimensions; 1 to 4 are possible");
    tensor.elements = 1;
    for (std::uint32_t i = 0; i < rank; ++i) {
      const auto extent = reader_.read<std::uint64_t>(what);
      if (extent == 0) fail(what + " has an extent of zero");
      if (extent > std::numeric_limits<std::int64_t>::max() / tensor.elements)
        fail(what + " has more elements than 63 bits can count");
      tensor.elements *= extent;
      tensor.shape.push_back(extent);
    }
    const auto number = reader_.read<std::uint32_t>(what);
    const TypeTraits* traits = find_type_traits(number);
    if (!traits) fail(what + " has the unknown element type " + std::to_string(number));
    tensor.type = traits->type;
    tensor.offset = reader_.read<std::uint64_t>(what);
    if (tensor.offset % alignment_ != 0)
      fail(what + " starts at offset " + std::to_string(tensor.offset) + ", no multiple of the alignment " +
           std::to_string(alignment_));
    if (tensor.shape[0] % traits->elements != 0)
      fail(what + " has rows of " + std::to_string(tensor.shape[0]) + " elements, no multiple of the " +
           std::to_string(traits->elements) + " in a block of " + std::string(traits->name));
    const std::uint64_t blocks = tensor.elements / traits->elements;
    if (blocks > bytes_.size() / traits->bytes) fail(what + " is larger than the whole file");
    if (!file_.tensor_index_.emplace(tensor.name, file_.tensors_.size()).second) fail(what + " occurs twice");
    file_.tensors_.push_back(std::move(tensor));
    return blocks * traits->bytes;
  }

  /// Turns offsets within the data section into spans, and refuses what leaves the file or overlaps.
  void place_tensors(const std::vector<std::uint64_t>& sizes) {
    const std::uint64_t padding = (alignment_ - reader_.position() % alignment_) % alignment_;
    const bool any = !file_.tensors_.empty();
    if (any && padding > reader_.left()) fail("the file ends before the tensor data");
    const std::uint64_t start = reader_.position() + (any ? padding : 0);
    const std::uint64_t available = bytes_.size() - start;
    std::vector<std::pair<std::uint64_t, std::size_t>> by_offset;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      Tensor& tensor = file_.tensors_[i];
      if (tensor.offset > available || sizes[i] > available - tensor.offset)
        file_.fail("tensor '" + printable(tensor.name) + "' needs " + std::to_string(sizes[i]) +
                   " bytes from data offset " + std::to_string(tensor.offset) + ", but the file has only " +
                   std::to_string(available) + " bytes of data; it may be truncated");
      by_offset.emplace_back(tensor.offset, i);
      tensor.offset += start;
      tensor.bytes = bytes_.subspan(tensor.offset, sizes[i]);
    }
    std::sort(by_offset.begin(), by_offset.end());
    for (std::size_t i = 1; i < by_offset.size(); ++i) {
      const auto [offset, before] = by_offset[i - 1];
      if (by_offset[i].first - offset < sizes[before])
        file_.fail("tensors '" + printable(file_.tensors_[before].name) + "' and '" +
                   printable(file_.tensors_[by_offset[i].second].name) + "' share bytes");
    }
  }

  File& file_;
  std::span<const std::byte> bytes_;
  Reader reader_;
  std::uint64_t tensor_count_ = 0;
  std::uint64_t entry_count_ = 0;
  std::uint64_t alignment_ = 0;
};

File File::parse(std::span<const std::byte> bytes, std::string name) {
  File file;
  file.name_ = std::move(name);
  Parser(file, bytes).run();
  return file;
}

File File::open(const std::filesystem::path& path) {
  auto mapping = std::make_shared<const MappedFile>(path);
  File file = parse(mapping->bytes(), path.string());
  file.mapping_ = std::move(mapping);
  return file;
}

const Value& File::at(std::string_view key) const {
  const auto found = metadata_.find(key);
  if (found == metadata_.end()) fail("metadata key '" + printable(key) + "' is missing");
  return found->second;
}

const Array& File::array_at(std::string_view key) const {
  if (const Array* array = std::get_if<Array>(&at(key))) return *array;
  wrong_kind(key, "an array");
}

Value File::next_element(const Array& array, std::uint64_t& position) const {
  Reader reader(*this, array.bytes.subspan(position));
  Value value = reader.read_value(array.type, "an array");
  position += reader.position();
  return value;
}

const Tensor* File::find_tensor(std::string_view name) const {
  const auto found = tensor_index_.find(name);
  return found == tensor_index_.end() ? nullptr : &tensors_[found->second];
}

const Tensor& File::tensor(std::string_view name) const {
  if (const Tensor* found = find_tensor(name)) return *found;
  fail("tensor '" + printable(name) + "' is missing");
}

void File::fail(const std::string& message) const { throw Error(name_ + ": " + message); }

void File::wrong_kind(std::string_view key, const char* expected) const {
  fail("metadata key '" + printable(key) + "' does not hold " + expected);
}

}  // namespace serve::gguf
