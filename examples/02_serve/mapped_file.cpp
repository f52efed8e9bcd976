// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mapped_file.hpp"

#include "gguf.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <string>
#include <system_error>

namespace serve::gguf {
namespace {

struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
};

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& what, int code) {
  throw Error(path.string() + ": " + what + ": " + std::generic_category().message(code));
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
  // Without O_NONBLOCK a named pipe would block here for ever.
  const Descriptor descriptor{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (descriptor.number < 0) fail(path, "cannot open", errno);
  struct stat status {};
  if (::fstat(descriptor.number, &status) != 0) fail(path, "cannot read its size", errno);
  if (!S_ISREG(status.st_mode)) throw Error(path.string() + ": not a regular file");
  if (status.st_size <= 0) throw Error(path.string() + ": not a GGUF file: it is empty");
  const auto size = static_cast<std::size_t>(status.st_size);
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor.number, 0);
  if (address == MAP_FAILED) fail(path, "cannot map", errno);
  bytes_ = {static_cast<const std::byte*>(address), size};
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace serve::gguf
