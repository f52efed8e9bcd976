// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The digests of all entries, computed where Execution runs.
#ifndef INVAR_TESTS_LEDGER_LEDGER_HPP
#define INVAR_TESTS_LEDGER_LEDGER_HPP

#include "support/environment.hpp"

#include <invar/num/float8.hpp>
#include <invar/num/types.hpp>
#include <invar/op/kv_cache.hpp>
#include <invar/verify/digest.hpp>

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace invar::test {

// clang-format off
template <class T> const char* type_name();
template <> inline const char* type_name<float>() { return "float"; }
template <> inline const char* type_name<double>() { return "double"; }
template <> inline const char* type_name<bfloat16_t>() { return "bfloat16"; }
template <> inline const char* type_name<float16_t>() { return "float16"; }
template <> inline const char* type_name<float8_e4m3_t>() { return "float8_e4m3"; }
template <> inline const char* type_name<float8_e5m2_t>() { return "float8_e5m2"; }
// clang-format on

/// An operation: its kernel and its reference, called with the same arguments.
template <class Kernel, class Reference>
struct Operation {
  std::string name, contract;
  Kernel kernel;
  Reference reference;
};
template <class K, class R>
Operation(std::string, std::string, K, R) -> Operation<K, R>;

/// An argument where Execution can read it: views are copied to its memory, everything else is as it was.
template <class A>
auto on_device(const A& argument) {
  if constexpr (Kokkos::is_view_v<A>)
    return Kokkos::create_mirror_view_and_copy(Execution::memory_space{}, argument);
  else
    return argument;
}
template <class K, class V>
auto on_device(const ContiguousKv<K, V>& kv) {
  return ContiguousKv{on_device(kv.k), on_device(kv.v)};
}

/// Which entries take long without optimisation; they are left out where the tests are to be small.
enum class Cost { low, high };

/// Digests by their line without the digest.
class Ledger {
 public:
  explicit Ledger(bool with_reference) : with_reference_(with_reference) {}

  /// Adds one entry. make() gives the result and the operation's further arguments on the host.
  template <class T, class Op, class Make>
  void add(const Op& op, const std::string& shape, std::uint64_t seed, Cost cost, const Make& make) {
    const std::string key =
        op.name + " " + op.contract + " " + type_name<T>() + " " + shape + " " + std::to_string(seed);
    if (cost == Cost::high && is_small()) {
      left_out_.insert(key);
      return;
    }
    std::apply([&](const auto& out, const auto&... in) { run(key, op, out, in...); }, make());
  }

  const std::map<std::string, std::string>& digests() const { return digests_; }
  const std::set<std::string>& left_out() const { return left_out_; }
  const std::vector<std::string>& disagreeing() const { return disagreeing_; }

 private:
  template <class Op, class Out, class... In>
  void run(const std::string& key, const Op& op, const Out& out, const In&... in) {
    const auto computed = Kokkos::create_mirror_view(Execution::memory_space{}, out);
    op.kernel(computed, on_device(in)...);
    const std::string digest = verify::to_hex(verify::digest(computed));
    if (!digests_.emplace(key, digest).second) throw std::logic_error("two entries: " + key);
    if (!with_reference_) return;
    Kokkos::deep_copy(out, Out("cleared", out.layout()));
    op.reference(out, in...);
    if (verify::to_hex(verify::digest(out)) != digest) disagreeing_.push_back(key);
  }

  bool with_reference_;
  std::map<std::string, std::string> digests_;
  std::set<std::string> left_out_;
  std::vector<std::string> disagreeing_;
};

}  // namespace invar::test

#endif
