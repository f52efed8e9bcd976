// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The program exists to be linked: one translation unit for each header. An empty list would prove nothing.
#include <cstdio>

int main() {
  std::printf("%d headers compile alone, twice, and link together\n", INVAR_HEADER_COUNT);
  return INVAR_HEADER_COUNT > 0 ? 0 : 1;
}
