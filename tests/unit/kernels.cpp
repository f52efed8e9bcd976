// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a call does beside computing, seen through Kokkos Tools: every kernel carries Invar's name and runs in the
// caller's instance, nothing is allocated, and nothing is waited for.
#include "support/environment.hpp"

#include <invar/invar.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace {

using Exec = invar::test::Execution;
namespace Tools = Kokkos::Tools::Experimental;

/// What the callbacks saw; Kokkos hands them no pointer of ours.
struct Seen {
  std::vector<std::string> kernels;
  std::vector<std::uint32_t> devices;
  std::vector<std::string> reductions_and_scans;
  std::vector<std::string> allocations;
  std::vector<std::string> fences;
} seen;

/// Records while it lives.
class Recording {
 public:
  Recording() {
    seen = {};
    Tools::set_begin_parallel_for_callback([](const char* name, std::uint32_t device, std::uint64_t*) {
      seen.kernels.emplace_back(name);
      seen.devices.push_back(device);
    });
    Tools::set_begin_parallel_reduce_callback(
        [](const char* name, std::uint32_t, std::uint64_t*) { seen.reductions_and_scans.emplace_back(name); });
    Tools::set_begin_parallel_scan_callback(
        [](const char* name, std::uint32_t, std::uint64_t*) { seen.reductions_and_scans.emplace_back(name); });
    Tools::set_allocate_data_callback([](Kokkos_Profiling_SpaceHandle, const char* label, const void*, std::uint64_t) {
      seen.allocations.emplace_back(label);
    });
    Tools::set_begin_fence_callback([](const char* name, std::uint32_t, std::uint64_t*) {
      // Kokkos itself waits before it calls a tool.
      if (std::string(name).find("Kokkos Profile Tool Fence") == std::string::npos) seen.fences.emplace_back(name);
    });
  }
  ~Recording() {
    Tools::set_begin_parallel_for_callback(nullptr);
    Tools::set_begin_parallel_reduce_callback(nullptr);
    Tools::set_begin_parallel_scan_callback(nullptr);
    Tools::set_allocate_data_callback(nullptr);
    Tools::set_begin_fence_callback(nullptr);
  }
};

template <class T>
using Vector = Kokkos::View<T*, Exec>;
using Matrix = Kokkos::View<float**, Kokkos::LayoutRight, Exec>;

/// A vector of these values in Exec's memory.
template <class... Values>
Vector<int> indices(Values... values) {
  const Vector<int> v("indices", sizeof...(values));
  const auto host = Kokkos::create_mirror_view(v);
  int i = 0;
  ((host(i++) = values), ...);
  Kokkos::deep_copy(v, host);
  return v;
}

/// A host needs one kernel for an operation; a GPU that shares a row among blocks may need a second one.
void check_kernels(const std::string& label) {
  if constexpr (Kokkos::SpaceAccessibility<Exec, Kokkos::HostSpace>::accessible) {
    REQUIRE(seen.kernels.size() == 1);
    CHECK(seen.kernels[0] == label);
  } else {
    CHECK(seen.kernels.size() >= 1);
    for (const std::string& kernel : seen.kernels) CHECK(kernel.rfind(label, 0) == 0);
  }
}

}  // namespace

TEST_CASE("every operation is labelled, runs in the caller's instance, and neither allocates nor waits") {
  const Exec exec = Kokkos::Experimental::partition_space(Exec(), 1, 1)[0];
  const Matrix x("x", 5, 3000), y("y", 5, 3000), h("h", 5, 3000), b("b", 3000, 40), c("c", 5, 40);
  const Vector<float> w("w", 3000), r("r", 5);
  const Vector<std::int64_t> index("index", 5);
  const Vector<int> ids("ids", 5), begin = indices(0, 5), length = indices(9);
  const Kokkos::View<float***, Kokkos::LayoutRight, Exec> q("q", 5, 4, 32), out("out", 5, 4, 32);
  const Kokkos::View<float****, Kokkos::LayoutRight, Exec> kv("kv", 1, 9, 2, 32);
  const Vector<float> frequencies("frequencies", 16);

  const std::pair<std::string, std::function<void()>> calls[] = {
      {"sum", [&] { invar::sum(exec, r, x); }},
      {"mean", [&] { invar::mean(exec, r, x); }},
      {"dot", [&] { invar::dot(exec, r, x, y); }},
      {"norm2", [&] { invar::norm2(exec, r, x); }},
      {"max", [&] { invar::max(exec, r, x); }},
      {"min", [&] { invar::min(exec, r, x); }},
      {"argmax", [&] { invar::argmax(exec, index, x); }},
      {"logsumexp", [&] { invar::logsumexp(exec, r, x); }},
      {"rms_norm", [&] { invar::rms_norm(exec, y, x, w, 1e-6f); }},
      {"rms_norm", [&] { invar::rms_norm(exec, y, h, x, x, w, 1e-6f); }},
      {"layer_norm", [&] { invar::layer_norm(exec, y, x, w, w, 1e-6f); }},
      {"softmax", [&] { invar::softmax(exec, y, x); }},
      {"log_softmax", [&] { invar::log_softmax(exec, y, x); }},
      {"matmul", [&] { invar::matmul(exec, c, x, b); }},
      {"matmul", [&] { invar::matmul<invar::contract::Matmul<invar::hopper_tf32>>(exec, c, x, b); }},
      {"attention",
       [&] {
         invar::attention(exec, out, q, invar::ContiguousKv{kv, kv}, begin, length);
       }},
      {"rope", [&] { invar::rope(exec, q, q, ids, frequencies, invar::RopePairs::halves); }},
      {"silu_mul", [&] { invar::silu_mul(exec, y, x, h); }},
      {"embedding", [&] { invar::embedding(exec, y, x, ids); }},
  };
  for (const auto& [name, call] : calls) {
    CAPTURE(name);
    call();  // Kokkos may set up its own scratch the first time
    exec.fence();
    {
      const Recording recording;
      call();
    }
    exec.fence();
    check_kernels("Invar::" + name);
    for (const std::uint32_t device : seen.devices) CHECK(device == Tools::device_id(exec));
    CHECK(seen.reductions_and_scans.empty());
    CHECK(seen.allocations.empty());
    CHECK(seen.fences.empty());
  }
}

TEST_CASE("what waits or allocates says so by its label") {
  const Exec exec;
  const Vector<float> x("x", 1000);
  {
    const Recording recording;
    CHECK(invar::sum(exec, x) == 0.0f);  // a host value: waits
    invar::self_check(exec);             // a report: waits, and has a few bytes of its own
  }
  const auto labelled = [](const std::vector<std::string>& names) {
    for (const std::string& name : names)
      if (name.rfind("Invar::", 0) == 0) return true;
    return false;
  };
  CHECK(labelled(seen.kernels));
  CHECK(labelled(seen.allocations));
  CHECK(labelled(seen.fences));
}
