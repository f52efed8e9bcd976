// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// A file as read-only memory.
#ifndef SERVE_MAPPED_FILE_HPP
#define SERVE_MAPPED_FILE_HPP

#include <cstddef>
#include <filesystem>
#include <span>

namespace serve::gguf {

/// Maps a regular file while it lives. Throws gguf::Error when the file cannot be opened, is no regular file or is
/// empty.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace serve::gguf

#endif
