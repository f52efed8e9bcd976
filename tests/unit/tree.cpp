// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <doctest/doctest.h>

#include <invar/contract/defaults.hpp>
#include <invar/reference/tree.hpp>
#include <invar/tree/aligned.hpp>
#include <invar/tree/lanes.hpp>

#include <cstdint>
#include <string>

using namespace invar;

#ifdef __CUDACC__
// Here the trees are over strings, on the host only; the templates are device functions too, which nothing calls.
#pragma nv_diag_suppress 20011, 20013, 20014, 20015
#endif

namespace {

// Trees written out: (0 1) is the join of leaves 0 and 1.
std::string leaf(std::int64_t i) { return std::to_string(i); }
std::string join(const std::string& left, const std::string& right) { return "(" + left + " " + right + ")"; }

std::string streamed(std::int64_t begin, std::int64_t end) {
  return tree::fold_aligned<std::string>(begin, end, leaf, join);
}
std::string specified(std::int64_t begin, std::int64_t end) {
  return reference::aligned_tree<std::string>(begin, end, leaf, join);
}

}  // namespace

TEST_CASE("the aligned tree, written out") {
  CHECK(specified(0, 1) == "0");
  CHECK(specified(0, 2) == "(0 1)");
  CHECK(specified(0, 3) == "((0 1) 2)");
  CHECK(specified(0, 4) == "((0 1) (2 3))");
  CHECK(specified(0, 5) == "(((0 1) (2 3)) 4)");
  CHECK(specified(0, 7) == "(((0 1) (2 3)) ((4 5) 6))");
  CHECK(specified(0, 8) == "(((0 1) (2 3)) ((4 5) (6 7)))");
}

TEST_CASE("the streamed fold is the recursive tree") {
  for (std::int64_t n = 1; n <= 200; ++n) CHECK(streamed(0, n) == specified(0, n));
  CHECK(streamed(64, 128) == specified(64, 128));
  CHECK(streamed(64, 91) == specified(64, 91));
}

TEST_CASE("aligned groups may be folded apart and joined") {
  for (const std::int64_t group : {1, 2, 4, 8, 16, 64, 256})
    for (std::int64_t n = 1; n <= 200; ++n) {
      const auto subtree = [&](std::int64_t g) { return streamed(g * group, std::min(n, (g + 1) * group)); };
      CHECK(tree::fold_aligned<std::string>(0, tree::leaf_count(n, group), subtree, join) == specified(0, n));
    }
}

TEST_CASE("groups that are no power of two give another tree") {
  const auto subtree = [](std::int64_t g) { return streamed(g * 3, (g + 1) * 3); };
  CHECK(tree::fold_aligned<std::string>(0, 4, subtree, join) != specified(0, 12));
}

TEST_CASE("leaf_count rounds up") {
  CHECK(tree::leaf_count(0, 512) == 0);
  CHECK(tree::leaf_count(1, 512) == 1);
  CHECK(tree::leaf_count(512, 512) == 1);
  CHECK(tree::leaf_count(513, 512) == 2);
  CHECK(tree::leaf_count(std::int64_t{1} << 40, 512) == std::int64_t{1} << 31);
}

TEST_CASE("a leaf's lanes are strided chains, joined by halving strides") {
  using Contract = contract::Rows<ieee, 8, 4>;
  const auto step = [](const std::string& chain, std::int64_t i) { return chain + "," + std::to_string(i); };
  const auto kernel = [&](std::int64_t begin, std::int64_t end) {
    const auto index = [](std::int64_t, std::int64_t i) { return i; };
    const auto link = [&](const std::string& chain, std::int64_t, std::int64_t i) { return step(chain, i); };
    return tree::SequentialLeaf<Contract>(0, begin, end).fold(std::string(), link, join, index);
  };
  CHECK(kernel(0, 8) == "((,0,4 ,2,6) (,1,5 ,3,7))");
  CHECK(kernel(8, 13) == "((,8,12 ,10) (,9 ,11))");
  for (std::int64_t n = 1; n <= 8; ++n) {
    const auto oracle = reference::leaf<Contract, std::string>(16, 16 + n, "", step, join);
    CHECK(kernel(16, 16 + n) == oracle);
  }
}
