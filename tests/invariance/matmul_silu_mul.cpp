// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/matmul_law.hpp"

#include <invar/op/matmul_silu_mul.hpp>
#include <invar/reference/matmul_silu_mul.hpp>

using namespace invar;
using namespace invar::test;

namespace {

template <class T, class R = T, class Contract = contract::DefaultMatmul>
struct MatmulSiluMul : Matmul<T, R, T, 37, Contract> {
  /// gate and up: halves of one matrix.
  template <class In>
  static auto weight(const In& a, int half) {
    return Kokkos::subview(shared_matrix<T>(a.extent(1), 74, 25), Kokkos::ALL, std::pair(half * 37, half * 37 + 37));
  }
  template <class Out, class In>
  static void kernel(const Execution& exec, const Out& c, const In& a, const schedule::Matmul*) {
    invar::matmul_silu_mul<Contract>(exec, c, a, weight(a, 0), weight(a, 1));
  }
  template <class Out, class In>
  static void reference(const Out& c, const In& a) {
    reference::matmul_silu_mul<Contract>(c, a, weight(a, 0), weight(a, 1));
  }
};

/// gate and up have changed places.
template <class T>
struct Swapped : MatmulSiluMul<T> {
  template <class Out, class In>
  static void reference(const Out& c, const In& a) {
    reference::matmul_silu_mul(c, a, MatmulSiluMul<T>::weight(a, 1), MatmulSiluMul<T>::weight(a, 0));
  }
};

/// The products are not rounded to c's type.
template <class T>
struct Unrounded : MatmulSiluMul<T> {
  template <class Out, class In>
  static void reference(const Out& c, const In& a) {
    const Matrix<float> g("gate", c.extent(0), 37), u("up", c.extent(0), 37);
    reference::matmul(g, a, MatmulSiluMul<T>::weight(a, 0));
    reference::matmul(u, a, MatmulSiluMul<T>::weight(a, 1));
    reference::silu_mul(c, g, u);
  }
};

/// Packed weights; on a GPU, which has no use for them, as they are.
template <class T>
struct Packed : MatmulSiluMul<T> {
  template <class Out, class In>
  static void kernel(const Execution& exec, const Out& c, const In& a, const schedule::Matmul*) {
    const auto gate = MatmulSiluMul<T>::weight(a, 0), up = MatmulSiluMul<T>::weight(a, 1);
    if constexpr (schedule::runs_on_host_v<Execution>)
      invar::matmul_silu_mul(exec, c, a, pack(exec, gate), pack(exec, up));
    else
      invar::matmul_silu_mul(exec, c, a, gate, up);
  }
};

/// The three operations by themselves.
template <class T>
struct Apart : MatmulSiluMul<T> {
  template <class Out, class In>
  static void kernel(const Execution& exec, const Out& c, const In& a, const schedule::Matmul* schedule) {
    const Matrix<T> g("gate", c.extent(0), 37), u("up", c.extent(0), 37);
    invar::matmul(exec, g, a, MatmulSiluMul<T>::weight(a, 0), schedule);
    invar::matmul(exec, u, a, MatmulSiluMul<T>::weight(a, 1), schedule);
    invar::silu_mul(exec, c, g, u);
    exec.fence("g and u end");
  }
};

template <class Exec>
void check_packed_refusals(const Exec& exec) {
  if constexpr (schedule::runs_on_host_v<Exec>) {
    const Matrix<float> a("a", 4, 10), gate("gate", 10, 6), up("up", 10, 7), c("c", 4, 6);
    const auto packed = pack(exec, gate);
    check_refused(c, "up extent 1: expected 6, found 7", [&] { matmul_silu_mul(exec, c, a, packed, pack(exec, up)); });
    check_refused(c, "gate extent 0: expected 10, found 4",
                  [&] { matmul_silu_mul(exec, c, a, PackedMatrix<float>(4, 6), packed); });
  }
}

}  // namespace

TEST_CASE("matmul_silu_mul: batches, neighbours, alignment") {
  check_batches(MatmulSiluMul<bfloat16_t>{});
  check_neighbours(MatmulSiluMul<bfloat16_t>{});
  check_alignment(MatmulSiluMul<float>{});
  check_empty(MatmulSiluMul<float16_t>{});
}
TEST_CASE("matmul_silu_mul: layouts and types") {
  check_layouts(MatmulSiluMul<bfloat16_t>{});
  check_layouts(MatmulSiluMul<float16_t, float>{});
  check_layouts(MatmulSiluMul<bfloat16_t, bfloat16_t, contract::Matmul<hopper_16bit, 512>>{});
}
TEST_CASE("matmul_silu_mul: the bits of separate operations") { check_schedules(Apart<bfloat16_t>{}); }
TEST_CASE("matmul_silu_mul: packed weights") { check_batches(Packed<bfloat16_t>{}); }
TEST_CASE("matmul_silu_mul: another operation is noticed") {
  check_detects(MatmulSiluMul<bfloat16_t>{}, Swapped<bfloat16_t>{}, 515);
  check_detects(MatmulSiluMul<bfloat16_t>{}, Unrounded<bfloat16_t>{}, 515);
}
TEST_CASE("matmul_silu_mul: refusals") {
  const Execution exec;
  const Matrix<float> a("a", 4, 10), gate("gate", 10, 6), up("up", 10, 7), c("c", 4, 6);
  check_refused(c, "up extent 1: expected 6, found 7", [&] { matmul_silu_mul(exec, c, a, gate, up); });
  check_refused(c, "gate extent 0: expected 10, found 4",
                [&] { matmul_silu_mul(exec, c, a, Matrix<float>("gate", 4, 6), Matrix<float>("up", 4, 6)); });
  check_packed_refusals(exec);
  const Matrix<float> both("both", 10, 12);
  const auto left = Kokkos::subview(both, std::pair(0, 4), std::pair(0, 6));
  check_refused(left, "c: expected memory apart from up", [&] {
    matmul_silu_mul(exec, left, a, Kokkos::subview(both, Kokkos::ALL, std::pair(6, 12)),
                    Kokkos::subview(both, Kokkos::ALL, std::pair(0, 6)));
  });
}
