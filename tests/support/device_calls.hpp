// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One call of every operation, each with inputs and an output of its own in the execution space's memory, for tests
// that run several at once or record them. Shapes: rows short and many, and rows long enough that a device shares them
// out.
#ifndef INVAR_TESTS_SUPPORT_DEVICE_CALLS_HPP
#define INVAR_TESTS_SUPPORT_DEVICE_CALLS_HPP

#include "environment.hpp"
#include "framed.hpp"
#include "row_operation.hpp"

#include <invar/invar.hpp>
#include <invar/reference/argmax.hpp>
#include <invar/reference/attention.hpp>
#include <invar/reference/dot.hpp>
#include <invar/reference/embedding.hpp>
#include <invar/reference/layer_norm.hpp>
#include <invar/reference/log_softmax.hpp>
#include <invar/reference/logsumexp.hpp>
#include <invar/reference/matmul.hpp>
#include <invar/reference/max.hpp>
#include <invar/reference/rms_norm.hpp>
#include <invar/reference/rope.hpp>
#include <invar/reference/silu_mul.hpp>
#include <invar/reference/softmax.hpp>
#include <invar/reference/sum.hpp>
#include <invar/verify/compare.hpp>
#include <invar/verify/random.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace invar::test {

/// A call that can be repeated with other inputs.
class DeviceCall {
 public:
  explicit DeviceCall(std::string name) : name_(std::move(name)) {}
  virtual ~DeviceCall() = default;
  const std::string& name() const { return name_; }

  /// Other inputs, and garbage in the output. Waits.
  virtual void fill(std::uint64_t seed) = 0;
  /// Asynchronous.
  virtual void run(const Execution& exec) const = 0;
  /// The output against the specification's for these inputs. Waits.
  virtual verify::Comparison compare() const = 0;

 private:
  std::string name_;
};

template <class Run, class Reference, class Out, class... In>
class DeviceCallOf final : public DeviceCall {
 public:
  DeviceCallOf(std::string name, Run run, Reference reference, Out out, In... in)
      : DeviceCall(std::move(name)), run_(run), reference_(reference), out_(out), in_(in...) {}

  void fill(std::uint64_t seed) override {
    std::apply([&](const auto&... in) { (fill_one(in, seed++), ...); }, in_);
    Kokkos::deep_copy(out_, garbage<typename Out::value_type>());
    Kokkos::fence();
  }
  void run(const Execution& exec) const override {
    std::apply([&](const auto&... in) { run_(exec, out_, in...); }, in_);
  }
  verify::Comparison compare() const override {
    const auto expected = verify::on_host(out_);
    std::apply([&](const auto&... in) { reference_(expected, verify::on_host(in)...); }, in_);
    return verify::compare(expected, out_);
  }

 private:
  /// Indices keep their values.
  template <class V>
  static void fill_one(const V& v, std::uint64_t seed) {
    if constexpr (!std::is_integral_v<typename V::value_type>) verify::fill_random(v, seed);
  }

  Run run_;
  Reference reference_;
  Out out_;
  std::tuple<In...> in_;
};

using DeviceCalls = std::vector<std::unique_ptr<DeviceCall>>;

/// A view in the execution space's memory.
template <class Data>
using OnDevice = Kokkos::View<Data, Kokkos::LayoutRight, Execution::memory_space>;

template <class... Values>
OnDevice<std::int32_t*> device_indices(Values... values) {
  const OnDevice<std::int32_t*> v("indices", sizeof...(values));
  const auto host = Kokkos::create_mirror_view(v);
  int i = 0;
  ((host(i++) = values), ...);
  Kokkos::deep_copy(v, host);
  return v;
}

inline constexpr float device_call_eps = 1e-5f;

/// Every operation.
inline DeviceCalls device_calls() {
  DeviceCalls calls;
  const auto add = [&](const char* name, auto run, auto reference, auto out, auto... in) {
    using Call = DeviceCallOf<decltype(run), decltype(reference), decltype(out), decltype(in)...>;
    calls.push_back(std::make_unique<Call>(name, run, reference, out, in...));
  };
#define INVAR_TEST_CALL(function, ...)                                                                          \
  add(                                                                                                          \
      #function, [](const Execution& exec, const auto& out, const auto&... in) { function(exec, out, in...); }, \
      [](const auto& out, const auto&... in) { reference::function(out, in...); }, __VA_ARGS__)

  INVAR_TEST_CALL(sum, OnDevice<float*>("r", 3), OnDevice<float**>("x", 3, 300001));
  INVAR_TEST_CALL(dot, OnDevice<double*>("r", 1), OnDevice<double**>("x", 1, 70001), OnDevice<double**>("y", 1, 70001));
  INVAR_TEST_CALL(max, OnDevice<float*>("r", 900), OnDevice<bfloat16_t**>("x", 900, 777));
  INVAR_TEST_CALL(argmax, OnDevice<std::int64_t*>("r", 2), OnDevice<float**>("x", 2, 151936));
  INVAR_TEST_CALL(logsumexp, OnDevice<float*>("r", 9), OnDevice<float**>("x", 9, 20000));
  INVAR_TEST_CALL(softmax, OnDevice<float**>("y", 33, 1000), OnDevice<float**>("x", 33, 1000));
  INVAR_TEST_CALL(log_softmax, OnDevice<float**>("y", 1, 151936), OnDevice<float**>("x", 1, 151936));
  // Enough long rows for their parts to take turns.
  INVAR_TEST_CALL(log_softmax, OnDevice<float**>("y", 71, 20000), OnDevice<float**>("x", 71, 20000));
  INVAR_TEST_CALL(softmax, OnDevice<bfloat16_t**>("y", 90, 40000), OnDevice<bfloat16_t**>("x", 90, 40000));
  INVAR_TEST_CALL(silu_mul, OnDevice<bfloat16_t**>("y", 7, 11008), OnDevice<bfloat16_t**>("gate", 7, 11008),
                  OnDevice<bfloat16_t**>("up", 7, 11008));
  INVAR_TEST_CALL(matmul, OnDevice<float**>("c", 33, 130), OnDevice<float**>("a", 33, 1100),
                  OnDevice<float**>("b", 1100, 130));
  INVAR_TEST_CALL(matmul, OnDevice<float**>("c", 1, 520), OnDevice<bfloat16_t**>("a", 1, 2048),
                  OnDevice<bfloat16_t**>("b", 2048, 520));
  INVAR_TEST_CALL(matmul, OnDevice<double**>("c", 17, 65), OnDevice<double**>("a", 17, 513),
                  OnDevice<double**>("b", 513, 65));
  INVAR_TEST_CALL(embedding, OnDevice<float**>("y", 5, 300), OnDevice<float**>("table", 90, 300),
                  device_indices(3, 89, -1, 0, 41));
#undef INVAR_TEST_CALL

  add(
      "rms_norm",
      [](const Execution& exec, const auto& y, const auto& x, const auto& weight) {
        rms_norm(exec, y, x, weight, device_call_eps);
      },
      [](const auto& y, const auto& x, const auto& weight) { reference::rms_norm(y, x, weight, device_call_eps); },
      OnDevice<bfloat16_t**>("y", 37, 4096), OnDevice<bfloat16_t**>("x", 37, 4096), OnDevice<bfloat16_t*>("w", 4096));
  // y and h side by side.
  add(
      "fused rms_norm",
      [](const Execution& exec, const auto& out, const auto& x, const auto& residual, const auto& weight) {
        rms_norm(exec, part(out, 0, 2), part(out, 1, 2), x, residual, weight, device_call_eps);
      },
      [](const auto& out, const auto& x, const auto& residual, const auto& weight) {
        reference::rms_norm(part(out, 0, 2), part(out, 1, 2), x, residual, weight, device_call_eps);
      },
      OnDevice<float**>("y, h", 2, 2 * 16384), OnDevice<float**>("x", 2, 16384),
      OnDevice<float**>("residual", 2, 16384), OnDevice<float*>("w", 16384));
  add(
      "layer_norm",
      [](const Execution& exec, const auto& y, const auto& x, const auto& weight, const auto& bias) {
        layer_norm(exec, y, x, weight, bias, device_call_eps);
      },
      [](const auto& y, const auto& x, const auto& weight, const auto& bias) {
        reference::layer_norm(y, x, weight, bias, device_call_eps);
      },
      OnDevice<float**>("y", 5, 5000), OnDevice<float**>("x", 5, 5000), OnDevice<float*>("w", 5000),
      OnDevice<float*>("b", 5000));
  add(
      "rope",
      [](const Execution& exec, const auto& y, const auto& x, const auto& positions, const auto& frequencies) {
        rope(exec, y, x, positions, frequencies, RopePairs::halves);
      },
      [](const auto& y, const auto& x, const auto& positions, const auto& frequencies) {
        reference::rope(y, x, positions, frequencies, false);
      },
      OnDevice<float***>("y", 3, 8, 64), OnDevice<float***>("x", 3, 8, 64), device_indices(0, 17, 40000),
      OnDevice<float*>("frequencies", 32));
  add(
      "attention",
      [](const Execution& exec, const auto& out, const auto& q, const auto& k, const auto& v, const auto& begin,
         const auto& length) {
        attention(exec, out, q, ContiguousKv{k, v}, begin, length, {0.125f, true});
      },
      [](const auto& out, const auto& q, const auto& k, const auto& v, const auto& begin, const auto& length) {
        reference::attention(out, q, ContiguousKv{k, v}, begin, length, 0.125f, true);
      },
      OnDevice<float***>("out", 6, 8, 64), OnDevice<float***>("q", 6, 8, 64), OnDevice<float****>("k", 2, 2100, 2, 64),
      OnDevice<float****>("v", 2, 2100, 2, 64), device_indices(0, 1, 6), device_indices(2050, 300));
  return calls;
}

}  // namespace invar::test

#endif
