// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ledger FILE [--write]: recomputes the digest of every entry through the kernels and compares it with FILE. With
// --write it makes FILE anew, but only where every kernel agrees with its reference.
#include <invar/op/argmax.hpp>
#include <invar/op/attention.hpp>
#include <invar/op/dot.hpp>
#include <invar/op/embedding.hpp>
#include <invar/op/layer_norm.hpp>
#include <invar/op/log_softmax.hpp>
#include <invar/op/logsumexp.hpp>
#include <invar/op/matmul.hpp>
#include <invar/op/max.hpp>
#include <invar/op/mean.hpp>
#include <invar/op/min.hpp>
#include <invar/op/norm2.hpp>
#include <invar/op/rms_norm.hpp>
#include <invar/op/rope.hpp>
#include <invar/op/silu_mul.hpp>
#include <invar/op/softmax.hpp>
#include <invar/op/sum.hpp>
#include <invar/reference/argmax.hpp>
#include <invar/reference/attention.hpp>
#include <invar/reference/dot.hpp>
#include <invar/reference/embedding.hpp>
#include <invar/reference/layer_norm.hpp>
#include <invar/reference/log_softmax.hpp>
#include <invar/reference/logsumexp.hpp>
#include <invar/reference/matmul.hpp>
#include <invar/reference/max.hpp>
#include <invar/reference/mean.hpp>
#include <invar/reference/min.hpp>
#include <invar/reference/norm2.hpp>
#include <invar/reference/rms_norm.hpp>
#include <invar/reference/rope.hpp>
#include <invar/reference/silu_mul.hpp>
#include <invar/reference/softmax.hpp>
#include <invar/reference/sum.hpp>
#include <invar/verify/digest.hpp>
#include <invar/verify/random.hpp>

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace {

using namespace invar;
using Execution = Kokkos::DefaultHostExecutionSpace;

template <class T>
using Vector = Kokkos::View<T*, Kokkos::HostSpace>;
template <class T>
using Matrix = Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::HostSpace>;

// clang-format off
template <class T> const char* type_name();
template <> const char* type_name<float>() { return "float"; }
template <> const char* type_name<double>() { return "double"; }
template <> const char* type_name<bfloat16_t>() { return "bfloat16"; }
template <> const char* type_name<float16_t>() { return "float16"; }
// clang-format on

/// A view of random data. Operands of one entry take neighbouring seeds.
template <class View, class... Extents>
View random(std::uint64_t seed, Extents... extents) {
  View v("random", extents...);
  verify::fill_random(v, seed);
  return v;
}

/// An operation: its kernel and its reference, called with the same arguments.
template <class Kernel, class Reference>
struct Operation {
  std::string name, contract;
  Kernel kernel;
  Reference reference;
};
template <class K, class R>
Operation(std::string, std::string, K, R) -> Operation<K, R>;

#define OPERATION(function, Contract)                                                             \
  Operation {                                                                                     \
#function, Contract::name(), [](auto&&... a) { invar::function<Contract>(Execution(), a...); }, \
        [](auto&&... a) { invar::reference::function<Contract>(a...); } \
  }
#define ELEMENTWISE(function)                                                                                          \
  Operation {                                                                                                          \
#function, contract::DefaultElementwise::name(),                                                                   \
        [](auto&&... a) { invar::function(Execution(), a...); }, [](auto&&... a) { invar::reference::function(a...); } \
  }

/// The digests of all entries, by their line without the digest.
class Ledger {
 public:
  explicit Ledger(bool with_reference) : with_reference_(with_reference) {}

  /// Adds one entry. call(run, out) must run the operation on its inputs with `run`; out is what is digested.
  template <class T, class Op, class Out, class Call>
  void add(const Op& op, const std::string& shape, std::uint64_t seed, const Out& out, const Call& call) {
    const std::string key =
        op.name + " " + op.contract + " " + type_name<T>() + " " + shape + " " + std::to_string(seed);
    call(op.kernel, out);
    const std::string digest = verify::to_hex(verify::digest(out));
    if (!digests_.emplace(key, digest).second) throw std::logic_error("two entries: " + key);
    if (!with_reference_) return;
    Kokkos::deep_copy(out, Out("cleared", out.layout()));
    call(op.reference, out);
    if (verify::to_hex(verify::digest(out)) != digest) disagreeing_.push_back(key);
  }

  const std::map<std::string, std::string>& digests() const { return digests_; }
  const std::vector<std::string>& disagreeing() const { return disagreeing_; }

 private:
  bool with_reference_;
  std::map<std::string, std::string> digests_;
  std::vector<std::string> disagreeing_;
};

struct Shape {
  std::int64_t rows, columns;
  std::string text() const { return std::to_string(rows) + "x" + std::to_string(columns); }
};
constexpr Shape row_shapes[] = {{1, 1}, {7, 65}, {3, 513}, {16, 1000}, {5, 4097}, {1, 70001}};

/// result(rows) from `Operands` matrices.
template <int Operands, class Result, class T, class Op>
void reductions_of(Ledger& ledger, const Op& op) {
  for (const auto& shape : row_shapes) {
    const auto x = random<Matrix<T>>(100, shape.rows, shape.columns),
               y = random<Matrix<T>>(101, shape.rows, shape.columns);
    ledger.add<T>(op, shape.text(), 100, Vector<Result>("out", shape.rows), [&](const auto& run, const auto& out) {
      if constexpr (Operands == 1)
        run(out, x);
      else
        run(out, x, y);
    });
  }
}
template <int Operands, class... Types, class Op>
void reductions(Ledger& ledger, const Op& op) {
  (reductions_of<Operands, num::accumulator_t<Types>, Types>(ledger, op), ...);
}
template <class... Types, class Op>
void index_reductions(Ledger& ledger, const Op& op) {
  (reductions_of<1, std::int64_t, Types>(ledger, op), ...);
}

/// y[rows, columns] from x; arguments(shape, seed) gives what follows x.
template <class... Types, class Op, class Arguments>
void maps(Ledger& ledger, const Op& op, const Arguments& arguments) {
  const auto one_type = [&]<class T>(T) {
    for (const auto& shape : row_shapes) {
      const auto x = random<Matrix<T>>(200, shape.rows, shape.columns);
      ledger.add<T>(op, shape.text(), 200, Matrix<T>("out", shape.rows, shape.columns),
                    [&](const auto& run, const auto& out) {
                      std::apply([&](const auto&... rest) { run(out, x, rest...); }, arguments(T{}, shape, 201));
                    });
    }
  };
  (one_type(Types{}), ...);
}

// What follows x.
constexpr auto nothing = [](auto, Shape, std::uint64_t) { return std::tuple(); };
constexpr auto weight = [](auto t, Shape shape, std::uint64_t seed) {
  return std::tuple(random<Vector<decltype(t)>>(seed, shape.columns), 1e-5f);
};
constexpr auto weight_and_bias = [](auto t, Shape shape, std::uint64_t seed) {
  using V = Vector<decltype(t)>;
  return std::tuple(random<V>(seed, shape.columns), random<V>(seed + 1, shape.columns), 1e-5f);
};
constexpr auto second_matrix = [](auto t, Shape shape, std::uint64_t seed) {
  return std::tuple(random<Matrix<decltype(t)>>(seed, shape.rows, shape.columns));
};

template <class... Types, class Op>
void matmuls(Ledger& ledger, const Op& op) {
  constexpr std::int64_t shapes[][3] = {{1, 1, 1}, {1, 300, 1100}, {5, 33, 511}, {17, 65, 513}, {70, 40, 1024}};
  const auto one_type = [&]<class T>(T) {
    for (const auto& [m, n, k] : shapes) {
      const auto a = random<Matrix<T>>(300, m, k), b = random<Matrix<T>>(301, k, n);
      const std::string shape = std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k);
      ledger.add<T>(op, shape, 300, Matrix<num::accumulator_t<T>>("c", m, n),
                    [&](const auto& run, const auto& c) { run(c, a, b); });
    }
  };
  (one_type(Types{}), ...);
}

/// Three requests: a decode step, a chunk and a whole prefill; group is the number of query heads per KV head.
template <class... Types, class Op>
void attentions(Ledger& ledger, const Op& op, int group, int dim, bool causal) {
  const auto one_type = [&]<class T>(T) {
    using Cache = Kokkos::View<T****, Kokkos::LayoutRight, Kokkos::HostSpace>;
    using Heads = Kokkos::View<T***, Kokkos::LayoutRight, Kokkos::HostSpace>;
    const int lengths[3] = {2049, 300, 20}, queries[3] = {1, 7, 20};
    Vector<std::int32_t> begin("begin", 4), length("length", 3);
    for (int r = 0; r < 3; ++r) {
      begin(r + 1) = begin(r) + queries[r];
      length(r) = lengths[r];
    }
    const ContiguousKv kv{random<Cache>(401, 3, 2100, 2, dim), random<Cache>(402, 3, 2100, 2, dim)};
    const auto q = random<Heads>(400, begin(3), 2 * group, dim);
    const std::string shape = std::string(causal ? "causal" : "full") + ",heads=" + std::to_string(2 * group) +
                              "/2,dim=" + std::to_string(dim) + ",queries=1:7:20,kv=2049:300:20";
    ledger.add<T>(op, shape, 400, Heads("out", begin(3), 2 * group, dim),
                  [&](const auto& run, const auto& out) { run(out, q, kv, begin, length, causal); });
  };
  (one_type(Types{}), ...);
}

template <class... Types, class Op>
void ropes(Ledger& ledger, const Op& op, RopePairs pairs) {
  const auto one_type = [&]<class T>(T) {
    using Heads = Kokkos::View<T***, Kokkos::LayoutRight, Kokkos::HostSpace>;
    Vector<std::int32_t> positions("positions", 9);
    for (int i = 0; i < 9; ++i) positions(i) = i * i * i * 250;
    const auto frequencies = random<Vector<float>>(501, 30);
    const auto x = random<Heads>(500, 9, 3, 64);
    ledger.add<T>(op, std::string("9x3x64,") + (pairs == RopePairs::adjacent ? "adjacent" : "halves"), 500,
                  Heads("out", 9, 3, 64),
                  [&](const auto& run, const auto& out) { run(out, x, positions, frequencies, pairs); });
  };
  (one_type(Types{}), ...);
}

template <class... Types, class Op>
void embeddings(Ledger& ledger, const Op& op) {
  const auto one_type = [&]<class T>(T) {
    Vector<std::int32_t> ids("ids", 6);
    for (int i = 0; i < 6; ++i) ids(i) = i * 7 % 12 - 1;  // −1 is outside
    const auto table = random<Matrix<T>>(600, 11, 77);
    ledger.add<T>(op, "6x77,entries=11", 600, Matrix<T>("out", 6, 77),
                  [&](const auto& run, const auto& out) { run(out, table, ids); });
  };
  (one_type(Types{}), ...);
}

/// Every entry of the ledger: one line an operation.
void add_all(Ledger& ledger) {
  reductions<1, float, double, bfloat16_t, float16_t>(ledger, OPERATION(sum, contract::Sum));
  reductions<2, float, double, bfloat16_t, float16_t>(ledger, OPERATION(dot, contract::Dot));
  reductions<1, float, double, bfloat16_t, float16_t>(ledger, OPERATION(norm2, contract::Dot));
  reductions<1, float, double, bfloat16_t, float16_t>(ledger, OPERATION(mean, contract::Sum));
  reductions<1, float, double, bfloat16_t, float16_t>(ledger, OPERATION(max, contract::Extremum));
  reductions<1, float, double, bfloat16_t, float16_t>(ledger, OPERATION(min, contract::Extremum));
  reductions<1, float, bfloat16_t, float16_t>(ledger, OPERATION(logsumexp, contract::LogSumExp));
  index_reductions<float, double, bfloat16_t, float16_t>(ledger, OPERATION(argmax, contract::Extremum));
  maps<float, bfloat16_t, float16_t>(ledger, OPERATION(softmax, contract::Softmax), nothing);
  maps<float, bfloat16_t, float16_t>(ledger, OPERATION(log_softmax, contract::Softmax), nothing);
  maps<float, double, bfloat16_t, float16_t>(ledger, OPERATION(rms_norm, contract::Norm), weight);
  maps<float, double, bfloat16_t, float16_t>(ledger, OPERATION(layer_norm, contract::Norm), weight_and_bias);
  maps<float, bfloat16_t, float16_t>(ledger, ELEMENTWISE(silu_mul), second_matrix);
  matmuls<float, double, bfloat16_t, float16_t>(ledger, OPERATION(matmul, contract::DefaultMatmul));
  embeddings<float, double, bfloat16_t, float16_t>(ledger, ELEMENTWISE(embedding));

  const Operation rotation{
      "rope", contract::DefaultElementwise::name(), [](auto&&... a) { rope(Execution(), a...); },
      [](const auto& y, const auto& x, const auto& positions, const auto& frequencies, RopePairs pairs) {
        reference::rope(y, x, positions, frequencies, pairs == RopePairs::adjacent);
      }};
  for (const RopePairs pairs : {RopePairs::adjacent, RopePairs::halves})
    ropes<float, bfloat16_t, float16_t>(ledger, rotation, pairs);

  const Operation attend{
      "attention", contract::DefaultAttention::name(),
      [](const auto& out, const auto& q, const auto& kv, const auto& begin, const auto& length, bool causal) {
        attention(Execution(), out, q, kv, begin, length, AttentionOptions{0.125f, causal});
      },
      [](const auto& out, const auto& q, const auto& kv, const auto& begin, const auto& length, bool causal) {
        reference::attention(out, q, kv, begin, length, 0.125f, causal);
      }};
  attentions<float, bfloat16_t, float16_t>(ledger, attend, 3, 64, true);
  attentions<float, bfloat16_t>(ledger, attend, 1, 40, true);
  attentions<float>(ledger, attend, 4, 64, false);
}

const char* const header =
    "# One digest (XXH64 of the result's elements) per operation, contract, element type, shape and seed. Inputs are\n"
    "# verify::fill_random of the seed; an operation's further operands take the seeds that follow. Every backend, "
    "compiler,\n"
    "# flag set and number of threads must reproduce these. Written by: ledger FILE --write\n"
    "# operation contract type shape seed digest\n";

/// FILE's digests by key; the digest is the last word of a line.
std::map<std::string, std::string> read(const char* path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(std::string("cannot read ") + path);
  std::map<std::string, std::string> digests;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const auto space = line.rfind(' ');
    if (space == std::string::npos || !digests.emplace(line.substr(0, space), line.substr(space + 1)).second)
      throw std::runtime_error(std::string(path) + ": bad or repeated line: " + line);
  }
  return digests;
}

int write(const Ledger& ledger, const char* path) {
  for (const std::string& key : ledger.disagreeing()) std::printf("kernel and reference differ: %s\n", key.c_str());
  if (!ledger.disagreeing().empty()) {
    std::printf("nothing written\n");
    return 1;
  }
  std::ofstream file(path);
  file << header;
  for (const auto& [key, digest] : ledger.digests()) file << key << " " << digest << "\n";
  file.close();
  if (!file) throw std::runtime_error(std::string("cannot write ") + path);
  std::printf("%zu entries written to %s\n", ledger.digests().size(), path);
  return 0;
}

int check(const Ledger& ledger, const char* path) {
  const auto recorded = read(path);
  int passed = 0, failed = 0;
  for (const auto& [key, digest] : ledger.digests()) {
    const auto found = recorded.find(key);
    const bool equal = found != recorded.end() && found->second == digest;
    equal ? ++passed : ++failed;
    std::printf("%s %s %s", equal ? "ok  " : "FAIL", key.c_str(), digest.c_str());
    if (!equal)
      std::printf(", %s", found == recorded.end() ? "not in the ledger" : ("ledger: " + found->second).c_str());
    std::printf("\n");
  }
  for (const auto& [key, digest] : recorded)
    if (ledger.digests().count(key) == 0) {
      ++failed;
      std::printf("FAIL %s %s, in the ledger only\n", key.c_str(), digest.c_str());
    }
  std::printf("%d threads\n%d passed, %d failed\n", Execution().concurrency(), passed, failed);
  return failed == 0 && passed > 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  const bool writes = argc == 3 && std::string(argv[2]) == "--write";
  if (argc < 2 || argc > 3 || (argc == 3 && !writes)) {
    std::fprintf(stderr, "usage: ledger FILE [--write]\n");
    return 2;
  }
  try {
    Ledger ledger(writes);
    add_all(ledger);
    return writes ? write(ledger, argv[1]) : check(ledger, argv[1]);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "ledger: %s\n", e.what());
    return 1;
  }
}
