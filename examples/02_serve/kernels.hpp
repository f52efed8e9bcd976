// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The two products of the model, batch-invariant or as ordinary libraries compute them.
#ifndef SERVE_KERNELS_HPP
#define SERVE_KERNELS_HPP

#include <invar/op/attention.hpp>
#include <invar/op/matmul.hpp>

#include <cstdint>

namespace serve {

/// Invar's default contracts: the order of every sum is fixed.
struct InvariantKernels {
  template <class Exec, class C, class A, class B>
  static void matmul(const Exec& exec, const C& c, const A& a, const B& b) {
    invar::matmul(exec, c, a, b);
  }
  template <class Exec, class Out, class Q, class Kv, class Begin, class Length>
  static void attention(const Exec& exec, const Out& out, const Q& q, const Kv& kv, const Begin& begin,
                        const Length& length) {
    invar::attention(exec, out, q, kv, begin, length);
  }
};

/// What ordinary libraries do: the fewer rows there are, the more parts a sum is cut into, so that all processors have
/// work. The parts are added in another order then, and a row's bits follow the size of the batch. Here the split is a
/// contract that is chosen by the shape, which Invar itself never does.
struct VariantKernels {
  /// Split-K by the number of rows.
  template <class Exec, class C, class A, class B>
  static void matmul(const Exec& exec, const C& c, const A& a, const B& b) {
    using namespace invar;
    if (a.extent(0) == 1)
      invar::matmul<contract::Matmul<ieee, 64>>(exec, c, a, b);
    else if (a.extent(0) <= 4)
      invar::matmul<contract::Matmul<ieee, 128>>(exec, c, a, b);
    else if (a.extent(0) <= 16)
      invar::matmul<contract::Matmul<ieee, 512>>(exec, c, a, b);
    else
      invar::matmul<contract::Matmul<ieee, 1 << 30>>(exec, c, a, b);
  }
  /// KV blocks and splits by the number of query tokens.
  template <class Exec, class Out, class Q, class Kv, class Begin, class Length>
  static void attention(const Exec& exec, const Out& out, const Q& q, const Kv& kv, const Begin& begin,
                        const Length& length) {
    using namespace invar;
    if (q.extent(0) == 1)
      invar::attention<contract::Attention<ieee, 32, 64>>(exec, out, q, kv, begin, length);
    else if (q.extent(0) <= 8)
      invar::attention<contract::Attention<ieee, 64, 256>>(exec, out, q, kv, begin, length);
    else
      invar::attention<contract::Attention<ieee, 128, 1024>>(exec, out, q, kv, begin, length);
  }
};

}  // namespace serve

#endif
