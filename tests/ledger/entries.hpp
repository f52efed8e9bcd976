// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the ledger holds: every operation, and the shapes at which its digest is kept.
#ifndef INVAR_TESTS_LEDGER_ENTRIES_HPP
#define INVAR_TESTS_LEDGER_ENTRIES_HPP

#include "ledger.hpp"

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
#include <invar/verify/random.hpp>

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace invar::test {

template <class T>
using Vector = Kokkos::View<T*, Kokkos::HostSpace>;
template <class T>
using Matrix = Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::HostSpace>;

/// A view of random data. Operands of one entry take neighbouring seeds.
template <class View, class... Extents>
View random(std::uint64_t seed, Extents... extents) {
  View v("random", extents...);
  verify::fill_random(v, seed);
  return v;
}

#define INVAR_OPERATION(function, Contract)                                                            \
  Operation {                                                                                          \
#function, Contract::name(), [](const auto&... a) { invar::function<Contract>(Execution(), a...); }, \
        [](const auto&... a) { invar::reference::function<Contract>(a...); } \
  }
#define INVAR_ELEMENTWISE(function)                                                                  \
  Operation {                                                                                        \
#function, contract::DefaultElementwise::name(),                                                   \
        [](const auto&... a) { invar::function(Execution(), a...); },                                  \
        [](const auto&... a) { invar::reference::function(a...); } \
  }

struct Shape {
  std::int64_t rows, columns;
  Cost cost = Cost::low;
  std::string text() const { return std::to_string(rows) + "x" + std::to_string(columns); }
};
using Shapes = std::vector<Shape>;

inline const Shapes row_shapes{{1, 1}, {7, 65}, {3, 513}, {16, 1000}, {5, 4097}, {1, 70001}};
// Rows that a GPU shares among several blocks, and widths of models.
inline const Shapes long_row{{1, 600001}};
inline const Shapes vocabulary{{2, 151936}};
inline const Shapes wide_rows{{3, 16384}};

/// result(rows) from `Operands` matrices.
template <int Operands, class Result, class T, class Op>
void reductions_of(Ledger& ledger, const Op& op, const Shapes& shapes) {
  for (const Shape& shape : shapes)
    ledger.add<T>(op, shape.text(), 100, shape.cost, [&] {
      const Vector<Result> out("out", shape.rows);
      const auto x = random<Matrix<T>>(100, shape.rows, shape.columns);
      if constexpr (Operands == 1)
        return std::tuple(out, x);
      else
        return std::tuple(out, x, random<Matrix<T>>(101, shape.rows, shape.columns));
    });
}
template <int Operands, class... Types, class Op>
void reductions(Ledger& ledger, const Op& op, const Shapes& shapes) {
  (reductions_of<Operands, num::accumulator_t<Types>, Types>(ledger, op, shapes), ...);
}
template <class... Types, class Op>
void index_reductions(Ledger& ledger, const Op& op, const Shapes& shapes) {
  (reductions_of<1, std::int64_t, Types>(ledger, op, shapes), ...);
}

/// y[rows, columns] from x; arguments(shape, seed) gives what follows x.
template <class... Types, class Op, class Arguments>
void maps(Ledger& ledger, const Op& op, const Shapes& shapes, const Arguments& arguments) {
  const auto one_type = [&]<class T>(T) {
    for (const Shape& shape : shapes)
      ledger.add<T>(op, shape.text(), 200, shape.cost, [&] {
        return std::tuple_cat(
            std::tuple(Matrix<T>("out", shape.rows, shape.columns), random<Matrix<T>>(200, shape.rows, shape.columns)),
            arguments(T{}, shape, 201));
      });
  };
  (one_type(Types{}), ...);
}

// What follows x.
inline constexpr auto nothing = [](auto, Shape, std::uint64_t) { return std::tuple(); };
inline constexpr auto weight = [](auto t, Shape shape, std::uint64_t seed) {
  return std::tuple(random<Vector<decltype(t)>>(seed, shape.columns), 1e-5f);
};
inline constexpr auto weight_and_bias = [](auto t, Shape shape, std::uint64_t seed) {
  using V = Vector<decltype(t)>;
  return std::tuple(random<V>(seed, shape.columns), random<V>(seed + 1, shape.columns), 1e-5f);
};
inline constexpr auto second_matrix = [](auto t, Shape shape, std::uint64_t seed) {
  return std::tuple(random<Matrix<decltype(t)>>(seed, shape.rows, shape.columns));
};

struct MatmulShape {
  std::int64_t m, n, k;
  Cost cost = Cost::low;
};
using MatmulShapes = std::vector<MatmulShape>;

inline const MatmulShapes matmul_shapes{{1, 1, 1}, {1, 300, 1100}, {5, 33, 511}, {17, 65, 513}, {70, 40, 1024}};
// Tiles, and long chains over k, that only larger shapes reach.
inline const MatmulShapes large_matmul_shapes{
    {1, 4096, 4096, Cost::high}, {16, 1024, 4096, Cost::high}, {130, 257, 4096, Cost::high}};
inline const MatmulShapes large_double_matmul_shapes{{65, 70, 1100}};

template <class... Types, class Op>
void matmuls(Ledger& ledger, const Op& op, const MatmulShapes& shapes) {
  const auto one_type = [&]<class T>(T) {
    for (const auto& [m, n, k, cost] : shapes) {
      const std::string shape = std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k);
      ledger.add<T>(op, shape, 300, cost, [m = m, n = n, k = k] {
        return std::tuple(Matrix<num::accumulator_t<T>>("c", m, n), random<Matrix<T>>(300, m, k),
                          random<Matrix<T>>(301, k, n));
      });
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
    const std::string shape = std::string(causal ? "causal" : "full") + ",heads=" + std::to_string(2 * group) +
                              "/2,dim=" + std::to_string(dim) + ",queries=1:7:20,kv=2049:300:20";
    ledger.add<T>(op, shape, 400, Cost::low, [&] {
      const int lengths[3] = {2049, 300, 20}, queries[3] = {1, 7, 20};
      Vector<std::int32_t> begin("begin", 4), length("length", 3);
      for (int r = 0; r < 3; ++r) {
        begin(r + 1) = begin(r) + queries[r];
        length(r) = lengths[r];
      }
      const ContiguousKv kv{random<Cache>(401, 3, 2100, 2, dim), random<Cache>(402, 3, 2100, 2, dim)};
      return std::tuple(Heads("out", begin(3), 2 * group, dim), random<Heads>(400, begin(3), 2 * group, dim), kv, begin,
                        length, causal);
    });
  };
  (one_type(Types{}), ...);
}

template <class... Types, class Op>
void ropes(Ledger& ledger, const Op& op, RopePairs pairs) {
  const auto one_type = [&]<class T>(T) {
    using Heads = Kokkos::View<T***, Kokkos::LayoutRight, Kokkos::HostSpace>;
    const std::string shape = std::string("9x3x64,") + (pairs == RopePairs::adjacent ? "adjacent" : "halves");
    ledger.add<T>(op, shape, 500, Cost::low, [&] {
      Vector<std::int32_t> positions("positions", 9);
      for (int i = 0; i < 9; ++i) positions(i) = i * i * i * 250;
      return std::tuple(Heads("out", 9, 3, 64), random<Heads>(500, 9, 3, 64), positions, random<Vector<float>>(501, 30),
                        pairs);
    });
  };
  (one_type(Types{}), ...);
}

template <class... Types, class Op>
void embeddings(Ledger& ledger, const Op& op) {
  const auto one_type = [&]<class T>(T) {
    ledger.add<T>(op, "6x77,entries=11", 600, Cost::low, [&] {
      Vector<std::int32_t> ids("ids", 6);
      for (int i = 0; i < 6; ++i) ids(i) = i * 7 % 12 - 1;  // −1 is outside
      return std::tuple(Matrix<T>("out", 6, 77), random<Matrix<T>>(600, 11, 77), ids);
    });
  };
  (one_type(Types{}), ...);
}

/// Every entry of the ledger.
inline void add_all(Ledger& ledger) {
  const auto of_one = [&](const auto& op, const Shapes& shapes) {
    reductions<1, float, double, bfloat16_t, float16_t>(ledger, op, shapes);
  };
  const auto of_two = [&](const auto& op, const Shapes& shapes) {
    reductions<2, float, double, bfloat16_t, float16_t>(ledger, op, shapes);
  };
  of_one(INVAR_OPERATION(norm2, contract::Dot), row_shapes);
  of_one(INVAR_OPERATION(mean, contract::Sum), row_shapes);
  of_one(INVAR_OPERATION(min, contract::Extremum), row_shapes);
  for (const Shapes* shapes : {&row_shapes, &long_row}) {
    of_one(INVAR_OPERATION(sum, contract::Sum), *shapes);
    of_two(INVAR_OPERATION(dot, contract::Dot), *shapes);
    of_one(INVAR_OPERATION(max, contract::Extremum), *shapes);
    reductions<1, float, bfloat16_t, float16_t>(ledger, INVAR_OPERATION(logsumexp, contract::LogSumExp), *shapes);
    index_reductions<float, double, bfloat16_t, float16_t>(ledger, INVAR_OPERATION(argmax, contract::Extremum),
                                                           *shapes);
  }
  for (const Shapes* shapes : {&row_shapes, &vocabulary}) {
    maps<float, bfloat16_t, float16_t>(ledger, INVAR_OPERATION(softmax, contract::Softmax), *shapes, nothing);
    maps<float, bfloat16_t, float16_t>(ledger, INVAR_OPERATION(log_softmax, contract::Softmax), *shapes, nothing);
  }
  for (const Shapes* shapes : {&row_shapes, &wide_rows}) {
    maps<float, double, bfloat16_t, float16_t>(ledger, INVAR_OPERATION(rms_norm, contract::Norm), *shapes, weight);
    maps<float, double, bfloat16_t, float16_t>(ledger, INVAR_OPERATION(layer_norm, contract::Norm), *shapes,
                                               weight_and_bias);
    maps<float, bfloat16_t, float16_t>(ledger, INVAR_ELEMENTWISE(silu_mul), *shapes, second_matrix);
  }
  const auto product = INVAR_OPERATION(matmul, contract::DefaultMatmul);
  matmuls<float, double, bfloat16_t, float16_t>(ledger, product, matmul_shapes);
  matmuls<float, bfloat16_t>(ledger, product, large_matmul_shapes);
  matmuls<double>(ledger, product, large_double_matmul_shapes);
  embeddings<float, double, bfloat16_t, float16_t>(ledger, INVAR_ELEMENTWISE(embedding));

  const Operation rotation{
      "rope", contract::DefaultElementwise::name(), [](const auto&... a) { rope(Execution(), a...); },
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

}  // namespace invar::test

#endif
