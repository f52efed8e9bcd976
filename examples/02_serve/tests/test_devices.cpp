// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The GPU against the CPU, on a small random model: every logit has the same bits, in any batch, launched kernel by
// kernel or replayed from a graph.
#include "comparison.hpp"
#include "device.hpp"
#include "random_llama.hpp"
#include "workload.hpp"

#include <doctest/doctest.h>
#include <Kokkos_Core.hpp>

#include <stdexcept>

using serve::Device;
using serve::KernelKind;
using serve::Precision;

#ifdef KOKKOS_ENABLE_CUDA

namespace {

constexpr std::size_t max_tokens = 12;

bool ends_answer(serve::Token token) { return token % 19 == 0; }

std::vector<serve::Request> random_requests(std::initializer_list<std::size_t> sizes, std::size_t count) {
  serve::Random random(3);
  std::vector<std::vector<serve::Token>> prompts;
  for (const std::size_t size : sizes) prompts.push_back(serve_tests::random_prompt(size, random));
  return serve::make_requests(prompts, count, random);
}

std::vector<serve::Completion> answer(serve::Engine& engine, const std::vector<serve::Request>& requests,
                                      std::size_t max_batch) {
  serve::Random random(5);
  serve::RunStatistics ignored;
  return serve::serve_all(engine, requests, {max_tokens, max_batch, 32, 16}, ends_answer, random, ignored,
                          [](std::size_t) {});
}

void check_equal(const std::vector<serve::Request>& requests, KernelKind kernels,
                 std::initializer_list<std::size_t> batches) {
  const serve_tests::Bytes model = serve_tests::random_llama(2, 1);
  for (const Precision precision : {Precision::f32, Precision::bf16}) {
    const auto cpu = serve_tests::load_engine(model, {kernels, precision});
    for (const bool graph : {false, true}) {
      const auto cuda = serve_tests::load_engine(model, {kernels, precision, Device::cuda, graph});
      for (const std::size_t batch : batches) {
        CAPTURE(precision);
        CAPTURE(graph);
        CAPTURE(batch);
        const auto expected = answer(*cpu, requests, batch);
        CHECK_FALSE(serve::first_difference(expected, answer(*cuda, requests, batch)));
        CHECK_FALSE(serve::first_difference(expected, answer(*cuda, requests, batch)));  // with what was recorded
      }
    }
  }
}

}  // namespace

TEST_CASE("the GPU computes the CPU's logits") {
  check_equal(random_requests({1, 7, 33, 64, 70}, 12), KernelKind::invariant, {1, 3, 8, 12});
}

TEST_CASE("the GPU computes the CPU's logits in sequences longer than one split of attention") {
  check_equal(random_requests({1020, 1100, 5, 2050}, 5), KernelKind::invariant, {1, 5});
}

TEST_CASE("kernels that split by batch size compute the CPU's logits in the same batches") {
  check_equal(random_requests({1, 7, 33, 64, 70}, 12), KernelKind::variant, {1, 8});
}

#else

TEST_CASE("a device that this build does not have is refused") {
  CHECK_NOTHROW(serve::require_device(Device::cpu));
  CHECK_THROWS_WITH_AS(serve::require_device(Device::cuda), doctest::Contains("Kokkos_ENABLE_CUDA"),
                       std::runtime_error);
  CHECK_THROWS_AS(
      serve_tests::load_engine(serve_tests::random_llama(1, 1), {KernelKind::invariant, Precision::f32, Device::cuda}),
      std::runtime_error);
}

#endif
