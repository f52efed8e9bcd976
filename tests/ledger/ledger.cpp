// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ledger FILE                computes the digest of every entry through the kernels and compares it with FILE
// ledger FILE --record OUT   the same, and writes to OUT what this device computed
// ledger FILE --device OTHER compares only the entries that another device recorded: with FILE, and with what is
//                            computed here
// ledger FILE --write        makes FILE anew, but only where every kernel agrees with its reference
// One line an entry; the exit status is not 0 where anything differs.
#include "ledger.hpp"
#include "device.hpp"
#include "entries.hpp"
#include "matrix_unit_entries.hpp"

#include <Kokkos_Core.hpp>
#include <cstdio>
#include <exception>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>

namespace {

using namespace invar::test;
using Digests = std::map<std::string, std::string>;

const char* const header =
    "# One digest (XXH64 of the result's elements) per operation, contract, element type, shape and seed. Inputs are\n"
    "# verify::fill_random of the seed; an operation's further operands take the seeds that follow. Every backend, "
    "compiler,\n"
    "# flag set and number of threads must reproduce these. Written by: ledger FILE --write\n"
    "# operation contract type shape seed digest\n";

/// FILE's digests by key; the digest is the last word of a line.
Digests read(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  Digests digests;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const auto space = line.rfind(' ');
    if (space == std::string::npos || !digests.emplace(line.substr(0, space), line.substr(space + 1)).second)
      throw std::runtime_error(path + ": bad or repeated line: " + line);
  }
  return digests;
}

void write(const Digests& digests, const std::string& head, const std::string& path) {
  std::ofstream file(path);
  file << head;
  for (const auto& [key, digest] : digests) file << key << " " << digest << "\n";
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path);
  std::printf("%zu entries written to %s\n", digests.size(), path.c_str());
}

int make_anew(const Ledger& ledger, const std::string& path) {
  for (const std::string& key : ledger.disagreeing()) std::printf("kernel and reference differ: %s\n", key.c_str());
  if (!ledger.disagreeing().empty() || !ledger.left_out().empty()) {
    std::printf("nothing written: %zu entries differ, %zu were left out\n", ledger.disagreeing().size(),
                ledger.left_out().size());
    return 1;
  }
  write(ledger.digests(), header, path);
  return 0;
}

/// Prints a line for each entry, and counts.
class Comparison {
 public:
  void compare(const std::string& key, const std::string& digest, const Digests& recorded, const char* where) {
    const auto found = recorded.find(key);
    if (found == recorded.end())
      fail(key, digest, std::string("not in ") + where);
    else if (found->second != digest)
      fail(key, digest, std::string(where) + ": " + found->second);
    else
      pass(key, digest);
  }
  void pass(const std::string& key, const std::string& digest) {
    ++passed_;
    std::printf("ok   %s %s [%s]\n", key.c_str(), digest.c_str(), name_.c_str());
  }
  void fail(const std::string& key, const std::string& digest, const std::string& reason) {
    ++failed_;
    std::printf("FAIL %s %s [%s], %s\n", key.c_str(), digest.c_str(), name_.c_str(), reason.c_str());
  }
  /// The closing lines, and the exit status.
  int finish(std::size_t left_out) const {
    if (left_out > 0) std::printf("%zu entries left out, for the tests are to be small\n", left_out);
    std::printf("%s: %d passed, %d failed\n", name_.c_str(), passed_, failed_);
    return failed_ == 0 && passed_ > 0 ? 0 : 1;
  }

 private:
  std::string name_ = device_name();
  int passed_ = 0, failed_ = 0;
};

int check(const Ledger& ledger, const std::string& path) {
  const Digests recorded = read(path);
  Comparison comparison;
  for (const auto& [key, digest] : ledger.digests()) comparison.compare(key, digest, recorded, "the ledger");
  for (const auto& [key, digest] : recorded)
    if (ledger.digests().count(key) == 0 && ledger.left_out().count(key) == 0)
      comparison.fail(key, digest, "in the ledger only");
  return comparison.finish(ledger.left_out().size());
}

/// Entries that were added after a device recorded its own are no matter here.
int check_device(const Ledger& ledger, const std::string& path, const std::string& device_path) {
  const Digests recorded = read(path);
  Comparison comparison;
  for (const auto& [key, digest] : read(device_path)) {
    if (ledger.left_out().count(key) > 0) continue;
    const auto computed = ledger.digests().find(key);
    if (computed == ledger.digests().end())
      comparison.fail(key, digest, "an entry of " + device_path + " that is not computed here");
    else if (computed->second != digest)
      comparison.fail(key, computed->second, device_path + ": " + digest);
    else
      comparison.compare(key, digest, recorded, "the ledger");
  }
  return comparison.finish(ledger.left_out().size());
}

}  // namespace

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  const std::string mode = argc > 2 ? argv[2] : "";
  const bool writes = mode == "--write" && argc == 3;
  const bool records = mode == "--record" && argc == 4, compares = mode == "--device" && argc == 4;
  if (argc != 2 && !writes && !records && !compares) {
    std::fprintf(stderr, "usage: ledger FILE [--write | --record OUT | --device OTHER]\n");
    return 2;
  }
  try {
    Ledger ledger(writes);
    add_all(ledger);
    add_matrix_units(ledger);
    if (writes) return make_anew(ledger, argv[1]);
    if (compares) return check_device(ledger, argv[1], argv[3]);
    if (records) write(ledger.digests(), device_header(), argv[3]);
    return check(ledger, argv[1]);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "ledger: %s\n", e.what());
    return 1;
  }
}
