// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the sections of perf.cuda_matrix_unit share: memory, operands, comparisons on the device, and the tables.
#ifndef INVAR_PERF_CUDA_MATRIX_UNIT_BENCH_HPP
#define INVAR_PERF_CUDA_MATRIX_UNIT_BENCH_HPP

#include "cublas_gemm.hpp"
#include "matrix_unit_report.hpp"
#include "matrix_unit_turns.hpp"

#include <invar/num/types.hpp>
#include <invar/op/matmul.hpp>
#include <invar/verify/random.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iostream>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace invar::perf {

using Kokkos::Cuda;
inline constexpr double not_measured = std::numeric_limits<double>::quiet_NaN();

/// Rows without gaps, as x and c are.
template <class T>
using Rows = Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::CudaSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
/// Weights [K, N], in whichever way they are stored.
template <class T>
using Weights =
    Kokkos::View<const T**, Kokkos::LayoutStride, Kokkos::CudaSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

template <class T>
Rows<T> rows(T* data, std::int64_t m, std::int64_t n) {
  return Rows<T>(data, static_cast<std::size_t>(m), static_cast<std::size_t>(n));
}
template <class T>
Weights<T> weights(const T* data, std::int64_t n, std::int64_t k, bool by_rows) {
  const auto extent = [](std::int64_t e) { return static_cast<std::size_t>(e); };
  return Weights<T>(data, by_rows ? Kokkos::LayoutStride(extent(k), 1, extent(n), extent(k))
                                  : Kokkos::LayoutStride(extent(k), extent(n), extent(n), 1));
}

template <class T>
constexpr cudaDataType_t cuda_type() {
  if constexpr (std::is_same_v<T, float>) return CUDA_R_32F;
  if constexpr (std::is_same_v<T, bfloat16_t>) return CUDA_R_16BF;
  if constexpr (std::is_same_v<T, float16_t>) return CUDA_R_16F;
  if constexpr (std::is_same_v<T, float8_e4m3_t>) return CUDA_R_8F_E4M3;
}

/// Normal random numbers (Box and Muller, 1958).
template <class T>
void fill_normal(const Cuda& exec, T* data, std::int64_t count, std::uint64_t seed, float deviation) {
  Kokkos::parallel_for(
      "fill", Kokkos::RangePolicy<Cuda, Kokkos::IndexType<std::int64_t>>(exec, 0, count),
      KOKKOS_LAMBDA(std::int64_t i) {
        const std::uint64_t bits = verify::random_bits(seed, static_cast<std::uint64_t>(i));
        const float u = (static_cast<float>(bits >> 40) + 0.5f) / 16777216.0f;
        const float angle = static_cast<float>(bits & 0xffffffu) * (6.2831853f / 16777216.0f);
        data[i] = static_cast<T>(Kokkos::sqrt(-2.0f * Kokkos::log(u)) * Kokkos::cos(angle) * deviation);
      });
}

/// Elements whose bits differ.
template <class T>
std::int64_t differing(const Cuda& exec, const T* a, const T* b, std::int64_t count) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint16_t>;
  static_assert(sizeof(T) == sizeof(Bits));
  const auto* const x = reinterpret_cast<const Bits*>(a);
  const auto* const y = reinterpret_cast<const Bits*>(b);
  std::int64_t result = 0;
  Kokkos::parallel_reduce(
      "differing", Kokkos::RangePolicy<Cuda, Kokkos::IndexType<std::int64_t>>(exec, 0, count),
      KOKKOS_LAMBDA(std::int64_t i, std::int64_t & sum) { sum += x[i] != y[i] ? 1 : 0; }, result);
  return result;
}

/// The largest difference, to see that both computed the same thing.
template <class T>
float farthest(const Cuda& exec, const T* a, const T* b, std::int64_t count) {
  float result = 0;
  Kokkos::parallel_reduce(
      "farthest", Kokkos::RangePolicy<Cuda, Kokkos::IndexType<std::int64_t>>(exec, 0, count),
      KOKKOS_LAMBDA(std::int64_t i, float& most) {
        const float apart = Kokkos::abs(static_cast<float>(a[i]) - static_cast<float>(b[i]));
        if (!(apart <= most)) most = apart;
      },
      Kokkos::Max<float>(result));
  return result;
}

/// The name of the library's choice.
template <class Contract>
std::string schedule_name(const Cuda& exec, std::int64_t m, std::int64_t n, std::int64_t k, bool by_rows) {
  return schedule::choose_matrix_unit_matmul(exec,
                                             {m, n, k, Contract::leaf, by_rows, Contract::arithmetic::operand_bytes})
      .name;
}

struct Bench {
  static constexpr std::int64_t weight_bytes = std::int64_t{704} << 20;
  static constexpr std::int64_t x_elements = std::int64_t{8192} * 12288;
  static constexpr std::int64_t c_elements = std::int64_t{8192} * 24576;

  bool by_rows = true;  ///< weights [N, K]
  int most_rows = 8192;
  double seconds = 55;  ///< after which no new shape is begun
  Turns turns;
  Cublas cublas{turns.stream()};
  std::deque<Table> tables;  ///< in which a section's rows stay even if it fails
  std::int64_t wrong = 0;    ///< outputs whose bits were not those expected

  const Cuda& exec() const { return turns.exec(); }
  template <class T>
  T* w() const {
    return reinterpret_cast<T*>(weights_.data());
  }
  template <class T>
  T* x() const {
    return reinterpret_cast<T*>(x_.data());
  }
  template <class T>
  T* c() const {
    return reinterpret_cast<T*>(c_.data());
  }
  template <class T>
  T* other_c() const {
    return reinterpret_cast<T*>(other_c_.data());
  }

  /// Weights and rows of a type, as normal random numbers.
  template <class T>
  void fill() const {
    fill_normal(exec(), w<T>(), weight_bytes / static_cast<std::int64_t>(sizeof(T)), 1, sizeof(T) == 1 ? 1.0f : 0.02f);
    fill_normal(exec(), x<T>(), x_elements * 2 / static_cast<std::int64_t>(sizeof(T)), 2, 1.0f);
    exec().fence();
  }

  /// So many weights fit, and as many of them are used as the cache does not hold.
  template <class T>
  int copies(std::int64_t elements) const {
    const std::int64_t bytes = elements * static_cast<std::int64_t>(sizeof(T));
    return static_cast<int>(std::clamp<std::int64_t>((std::int64_t{300} << 20) / bytes, 3, weight_bytes / bytes));
  }

  /// Leaves the fastest of cublasLt's algorithms for a product, found by measuring each.
  void keep_fastest(LtPlan& plan, const void* x, const void* w, std::int64_t bytes, const void* c, void* d,
                    int copies) {
    std::vector<Call> calls;
    std::vector<std::size_t> usable;
    for (std::size_t i = 0; i < plan.size(); ++i) {
      if (!plan.run(i, x, w, c, d)) continue;  // proposed, and not supported after all
      calls.push_back([&plan, i, x, w, bytes, c, d](int copy) {
        (void)plan.run(i, x, static_cast<const char*>(w) + copy * bytes, c, d);
      });
      usable.push_back(i);
    }
    if (usable.size() > 1) usable = {usable[turns.fastest(calls, copies)]};
    plan.keep(usable);
  }

  /// True once the time is up, which is remembered.
  bool is_late() {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start_;
    if (spent.count() > seconds) was_late_ = true;
    return was_late_;
  }
  bool was_late() const { return was_late_; }
  Table& begin(Table table) {
    tables.push_back(std::move(table));
    return tables.back();
  }
  /// Counts outputs that should have had other bits, and says so.
  void expect_none(std::int64_t count, const char* what) {
    wrong += count;
    if (count != 0) std::cout << "\nWRONG: " << count << " outputs of " << what << std::endl;
  }

 private:
  bool was_late_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  AlignedBytes weights_{"weights", weight_bytes}, x_{"x", x_elements * 2}, c_{"c", c_elements * 2},
      other_c_{"other c", c_elements * 2};
};

}  // namespace invar::perf

#endif
