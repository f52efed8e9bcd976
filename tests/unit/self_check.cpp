// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// On the default execution space, and on the host's, whose threads hold modes that can be set wrong on purpose.
#include <invar/verify/self_check.hpp>

#include <doctest/doctest.h>

#include <cfenv>
#include <cstdint>
#include <string>

namespace {

using Exec = Kokkos::DefaultHostExecutionSpace;

/// The control word that holds flush-to-zero and denormals-are-zero, set for as long as the object lives.
class FlushSubnormals {
 public:
#if defined(__x86_64__)
  FlushSubnormals() : saved_(__builtin_ia32_stmxcsr()) { __builtin_ia32_ldmxcsr(saved_ | 0x8040u); }
  ~FlushSubnormals() { __builtin_ia32_ldmxcsr(saved_); }

 private:
  unsigned saved_;
#elif defined(__aarch64__)
  FlushSubnormals() {
    asm volatile("mrs %0, fpcr" : "=r"(saved_));
    asm volatile("msr fpcr, %0" : : "r"(saved_ | (std::uint64_t{1} << 24)));
  }
  ~FlushSubnormals() { asm volatile("msr fpcr, %0" : : "r"(saved_)); }

 private:
  std::uint64_t saved_;
#else
#error "how does this processor flush subnormals?"
#endif
};

}  // namespace

TEST_CASE_TEMPLATE("self_check passes in a process that rounds as IEEE 754 says", Space, Exec,
                   Kokkos::DefaultExecutionSpace) {
  const invar::SelfCheckReport report = invar::self_check(Space());
  INFO(report.text());
  CHECK(report.passed());
  CHECK(report.workers == invar::schedule::Backend<Space>::workers(Space()));
  CHECK(report.text().find("passed") != std::string::npos);
  CHECK_NOTHROW(report.require());
}

TEST_CASE("self_check finds a flush of subnormals in the calling thread") {
  invar::SelfCheckReport report;
  {
    const FlushSubnormals flush;
    report = invar::self_check(Exec());
  }
  CHECK_FALSE(report.passed());
  CHECK(report.text().find("FAILED") != std::string::npos);
  CHECK(report.text().find("flush-to-zero") != std::string::npos);
  CHECK_THROWS_AS(report.require(), std::runtime_error);
  int failed = 0;
  for (const auto& item : report.items) failed += item.passed() ? 0 : 1;
  CHECK(failed == 3);  // the three checks of subnormals, and nothing else
}

TEST_CASE("self_check finds another rounding mode") {
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    REQUIRE(std::fesetround(mode) == 0);
    const invar::SelfCheckReport report = invar::self_check(Exec());
    std::fesetround(FE_TONEAREST);
    INFO(report.text());
    CHECK_FALSE(report.passed());
  }
}

TEST_CASE("a report names what differs, with both bit patterns") {
  invar::SelfCheckReport report = invar::self_check(Exec());
  report.items[5].found ^= 1u;  // the division
  CHECK_FALSE(report.passed());
  const std::string text = report.text();
  CHECK(text.find("FAILED division") != std::string::npos);
  CHECK(text.find("expected 0x3eaaaaab, found 0x3eaaaaaa") != std::string::npos);
}
