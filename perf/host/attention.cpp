// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention in float with grouped heads: causal prefill of one request, and decode steps of several, these also with
// caches of bfloat16 and float16. Peers: oneDNN's products and softmax one after the other; limit: a loop that reads
// keys and values once.
//
// A decode step takes its keys and values from one of several copies, 128 MiB in all: a model has a cache a layer.
#include "../support/contest.hpp"
#include "memory.hpp"
#include "onednn.hpp"

#include "onednn_attention.hpp"

#include <invar/op/attention.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <vector>

namespace {

using namespace invar;
using namespace invar::perf;

template <class E>
constexpr const char* decode_name = "attention decode f32";
template <>
constexpr const char* decode_name<bfloat16_t> = "attention decode bf16 cache";
template <>
constexpr const char* decode_name<float16_t> = "attention decode fp16 cache";

/// \tparam E  of the cache
template <class E>
Case describe(const AttentionShape& s) {
  const double elements = 2 * static_cast<double>(s.requests * s.length * s.kv_heads * s.dim);
  // A prefill's query sees half of the positions on average.
  const double visible = static_cast<double>(s.length) * (s.tokens == 1 ? 1.0 : 0.5);
  return {
      s.tokens == 1 ? decode_name<E> : "attention prefill f32",
      {{"heads", s.heads}, {"kv_heads", s.kv_heads}, {"dim", s.dim}, {"requests", s.requests}, {"length", s.length}},
      sizeof(E) * elements,
      4 * visible * static_cast<double>(s.requests * s.tokens * s.heads * s.dim)};
}

template <class E>
void measure(Contests& contests, const AttentionShape& s) {
  using Tokens = Kokkos::View<float***, Kokkos::LayoutRight, Exec>;
  using Cache = Kokkos::View<E****, Kokkos::LayoutRight, Exec>;
  const Exec exec;
  const Case work = describe<E>(s);
  const std::int64_t tokens = s.requests * s.tokens;
  const auto copies =
      s.tokens == 1 ? std::clamp<std::int64_t>((std::int64_t{128} << 20) / static_cast<std::int64_t>(work.bytes), 1, 64)
                    : 1;
  const Tokens q("q", tokens, s.heads, s.dim), out("out", tokens, s.heads, s.dim);
  fill(q, 1);
  std::vector<Cache> keys, values;
  std::vector<const E*> key_memory, value_memory;
  for (std::int64_t copy = 0; copy < copies; ++copy) {
    keys.emplace_back("k", s.requests, s.length, s.kv_heads, s.dim);
    values.emplace_back("v", s.requests, s.length, s.kv_heads, s.dim);
    fill(keys.back(), 2);
    fill(values.back(), 3);
    key_memory.push_back(keys.back().data());
    value_memory.push_back(values.back().data());
  }
  const Vector<int> begin("begin", s.requests + 1), length("length", s.requests);
  for (std::int64_t r = 0; r <= s.requests; ++r) begin(r) = static_cast<int>(r * s.tokens);
  Kokkos::deep_copy(length, static_cast<int>(s.length));
  const auto result = [out] { return sample(out); };
  const auto of = [copies](std::int64_t turn) { return static_cast<std::size_t>(turn % copies); };

  std::vector<Contender> contenders{
      {"Invar", Role::invar,
       [&](std::int64_t turn) {
         attention(exec, out, q, ContiguousKv{keys[of(turn)], values[of(turn)]}, begin, length);
         exec.fence();
       },
       result}};
#ifdef INVAR_PERF_ONEDNN
  std::unique_ptr<OnednnAttention> peer;
  if constexpr (std::is_same_v<E, float>) {
    peer = std::make_unique<OnednnAttention>(s, out.data(), q.data(), key_memory, value_memory);
    contenders.push_back({"oneDNN", Role::peer, [&](std::int64_t turn) { (*peer)(turn); }, result});
  }
#endif
  if (s.tokens == 1)
    contenders.push_back({"read loop", Role::limit, [&](std::int64_t turn) {
                            const auto bytes = static_cast<std::int64_t>(work.bytes) / 2;
                            read_loop(exec, key_memory[of(turn)], bytes);
                            read_loop(exec, value_memory[of(turn)], bytes);
                          }});
  contests.run(work, contenders);
}

}  // namespace

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos;
  Contests contests(argc, argv);
  note_onednn(contests);
  std::vector<AttentionShape> shapes;
  struct Heads {
    std::int64_t query, kv, dim;
  };
  for (const Heads heads : {Heads{9, 3, 64}, Heads{32, 8, 128}}) {
    for (const std::int64_t length : {128, 512, 2048})
      if (!contests.quick() || length == 512) shapes.push_back({heads.query, heads.kv, heads.dim, 1, length, length});
    struct Step {
      std::int64_t requests, length;
    };
    for (const Step step : {Step{1, 512}, Step{1, 4096}, Step{8, 1024}, Step{32, 1024}})
      if (!contests.quick() || step.requests != 32)
        shapes.push_back({heads.query, heads.kv, heads.dim, step.requests, 1, step.length});
  }
  const auto wanted = [&]<class E>(E, const AttentionShape& s) {
    return (std::is_same_v<E, float> || s.tokens == 1) && contests.announce(describe<E>(s));
  };
  std::vector<std::function<void()>> cases;
  const auto add = [&](auto element) {
    using E = decltype(element);
    for (const AttentionShape& s : shapes)
      if (wanted(element, s)) cases.push_back([&contests, s] { measure<E>(contests, s); });
  };
  add(float());
  add(bfloat16_t());
  add(float16_t());
  for (const auto& run : cases) run();
  return contests.finish();
}
