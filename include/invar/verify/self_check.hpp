// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Proves at run time that this process and device round as the ieee contracts say.
#ifndef INVAR_VERIFY_SELF_CHECK_HPP
#define INVAR_VERIFY_SELF_CHECK_HPP

#include <invar/num/arithmetic.hpp>
#include <invar/schedule/backend.hpp>

#ifdef KOKKOS_ENABLE_CUDA
#include <invar/backends/cuda/lane_exchange.hpp>
#endif

#include <Kokkos_Core.hpp>
#include <array>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>

namespace invar {

/// What one check of self_check() found.
struct SelfCheckItem {
  const char* name;        ///< what is checked
  const char* cause;       ///< what usually breaks it
  std::uint32_t expected;  ///< bits of the contract's result
  std::uint32_t found;     ///< bits that a worker computed: the first worker's that differ, if any
  bool passed() const { return expected == found; }
};

/// The report of self_check(): converts to true where every check passed.
struct SelfCheckReport {
  std::array<SelfCheckItem, 12> items;
  std::string space;  ///< the execution space's name
  int workers = 0;    ///< threads that ran the checks; on a GPU warps that it can run at once

  bool passed() const {
    for (const SelfCheckItem& item : items)
      if (!item.passed()) return false;
    return true;
  }
  explicit operator bool() const { return passed(); }

  /// The report as lines of text.
  std::string text() const {
    std::string lines = "Invar self-check on " + space + ", " + std::to_string(workers) + " workers: " +
                        (passed() ? "passed\n" : "FAILED: results here do not have the contract's bits\n");
    for (const SelfCheckItem& item : items) {
      char line[256];
      std::snprintf(line, sizeof line, "  %-6s %-34s expected 0x%08x, found 0x%08x%s%s\n",
                    item.passed() ? "ok" : "FAILED", item.name, static_cast<unsigned>(item.expected),
                    static_cast<unsigned>(item.found),
                    item.passed() ? "" : "; usual cause: ", item.passed() ? "" : item.cause);
      lines += line;
    }
    return lines;
  }

  /// Throws std::runtime_error with text() unless every check passed.
  void require() const {
    if (!passed()) throw std::runtime_error(text());
  }
};

namespace detail {

/// The inputs come from memory, so that no compiler evaluates a check in advance.
struct SelfCheckInputs {
  float one_and_a_bit = 0x1.001p0f;  // 1 + 2^-12
  float minus_square = -0x1.002p0f;  // −(1 + 2^-11): the square, rounded
  float tiny = 0x1.8p-130f;          // subnormal
  float smallest_normal = 0x1p-126f;
  float half = 0.5f;
  float one = 1.0f;
  float three = 3.0f;
  float half_ulp = 0x1.000002p-24f;  // just above half an ulp of 1
  float big = 0x1p30f;
  float quiet_nan = num::from_bits<float>(std::uint32_t{0xffc12345u});
  float zero = 0.0f;
  float two = 2.0f;
};

/// The checks of arithmetic; the lane exchange comes after them.
inline constexpr int self_check_count = 11;

/// The bits of one check's result.
KOKKOS_INLINE_FUNCTION std::uint32_t self_check_result(int check, const SelfCheckInputs& in) {
  using namespace num;
  switch (check) {
    case 0: return to_bits(add(mul(in.one_and_a_bit, in.one_and_a_bit), in.minus_square));
    case 1: return to_bits(fma(in.one_and_a_bit, in.one_and_a_bit, in.minus_square));
    case 2: return to_bits(mul(in.smallest_normal, in.half));
    case 3: return to_bits(add(in.tiny, in.tiny));
    case 4: return to_bits(fma(in.tiny, in.half, in.zero));
    case 5: return to_bits(div(in.one, in.three));
    case 6: return to_bits(sqrt(in.two));
    case 7: return to_bits(rsqrt(in.three));
    case 8: return to_bits(add(in.one, in.half_ulp));
    case 9: return to_bits(sub(add(in.one_and_a_bit, in.big), in.big));
    default: return to_bits(canonical(in.quiet_nan));
  }
}

inline std::array<SelfCheckItem, self_check_count + 1> self_check_expectations() {
  return {{
      {"product, then sum: two roundings", "contraction (-ffp-contract, -fmad) that passes the barrier", 0x00000000u,
       0},
      {"fma: one rounding", "an fma that is a product and a sum", 0x33800000u, 0},
      {"product may be subnormal", "flush-to-zero (MXCSR, FPCR, -ftz, -ffast-math start-up code)", 0x00400000u, 0},
      {"subnormal operands and sum", "denormals-are-zero (MXCSR, FPCR, -ftz)", 0x00180000u, 0},
      {"subnormal operand of fma", "denormals-are-zero (MXCSR, FPCR, -ftz)", 0x00060000u, 0},
      {"division", "approximate division (-freciprocal-math, -prec-div=false)", 0x3eaaaaabu, 0},
      {"square root", "approximate square root (-prec-sqrt=false)", 0x3fb504f3u, 0},
      {"1/square root: two roundings", "an approximate reciprocal square root", 0x3f13cd3au, 0},
      {"rounding to nearest", "another rounding mode (fesetround)", 0x3f800001u, 0},
      {"sums in the order written", "reassociation (-ffast-math, -fassociative-math)", 0x00000000u, 0},
      {"NaN is recognised", "-ffinite-math-only (part of -ffast-math)", 0x7fc00000u, 0},
      {"no lanes to exchange values on a host", "", 0u, 0},
  }};
}

/// What the lanes of a warp read from each other, where there are lanes.
template <class Exec>
void check_lanes(const Exec&, SelfCheckItem&) {}

#ifdef KOKKOS_ENABLE_CUDA
inline void check_lanes(const Kokkos::Cuda& exec, SelfCheckItem& item) {
  item = {"32 lanes exchange values", "a warp of another width", backends::cuda::lane_exchange_expected,
          backends::cuda::lane_exchange(exec)};
}
#endif

}  // namespace detail

/// Runs a few operations on every worker of exec and compares bits: contraction, fma, flush-to-zero of results and of
/// operands, division, square root, rounding mode, reassociation, NaN, and on a GPU the lane exchange. Takes well under
/// a millisecond on a host; waits for exec. The report says what each check found; `self_check(exec).require()` throws
/// unless all passed.
template <class Exec>
SelfCheckReport self_check(const Exec& exec) {
  using namespace detail;
  // Rounding modes belong to a thread, so every thread runs the checks, several times over.
  const int workers = schedule::Backend<Exec>::workers(exec);
  const int runs = 4 * workers;
  using Memory = typename Exec::memory_space;
  Kokkos::View<SelfCheckInputs*, Memory> inputs(Kokkos::view_alloc(exec, "Invar::self_check::inputs"), 1);
  Kokkos::View<std::uint32_t**, Kokkos::LayoutRight, Memory> found(Kokkos::view_alloc(exec, "Invar::self_check::found"),
                                                                   runs, self_check_count);
  Kokkos::deep_copy(exec, inputs, SelfCheckInputs{});
  Kokkos::parallel_for(
      "Invar::self_check", Kokkos::RangePolicy<Exec>(exec, 0, runs), KOKKOS_LAMBDA(int run) {
        for (int check = 0; check < self_check_count; ++check) found(run, check) = self_check_result(check, inputs(0));
      });
  const auto host = Kokkos::create_mirror_view(found);
  Kokkos::deep_copy(exec, host, found);
  exec.fence("Invar::self_check");

  SelfCheckReport report{self_check_expectations(), Exec::name(), workers};
  for (int check = 0; check < self_check_count; ++check) {
    SelfCheckItem& item = report.items[check];
    item.found = item.expected;
    for (int run = 0; run < runs && item.passed(); ++run) item.found = host(run, check);
  }
  check_lanes(exec, report.items[self_check_count]);
  return report;
}

}  // namespace invar

#endif
