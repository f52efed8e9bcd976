// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What functions.cpp must reproduce. A digest may change only with the function's formula, which changes the bits that
// Invar promises; its largest error is the one that the function's header states.
#ifndef INVAR_TESTS_EXHAUSTIVE_DIGESTS_HPP
#define INVAR_TESTS_EXHAUSTIVE_DIGESTS_HPP

#include <cstdint>

namespace invar::test {

struct Expected {
  const char* name;
  std::uint64_t digest;  // of the results for all 2^32 inputs
  double error_bound;    // ulp, over all inputs
  float worst;           // where the largest error occurs
};

inline constexpr Expected expected[] = {
    {"exp", 0x29cc6564d0670056u, 0.771, -0x1.5ed25p+6f},     {"exp2", 0x93f56d08cee5b59fu, 0.772, -0x1.f93164p+6f},
    {"log", 0xe2a4968c0e5bc031u, 0.590, 0x1.57c40cp-1f},     {"tanh", 0x925021b00f174e62u, 0.650, -0x1.e349fep-2f},
    {"sigmoid", 0x3eeff2f27b4d193bu, 0.771, -0x1.5ed25p+6f}, {"erf", 0x091ae9575a40b141u, 0.813, 0x1.37e2dcp+0f},
    {"sin", 0x6c6e07654c79c134u, 0.759, 0x1.8fc874p+16f},    {"cos", 0x03c9224bf946d129u, 0.753, 0x1.f33ddp+119f},
};

}  // namespace invar::test

#endif
