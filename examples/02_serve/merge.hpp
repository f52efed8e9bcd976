// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The merging loop that all byte-pair encodings share.
#ifndef SERVE_MERGE_HPP
#define SERVE_MERGE_HPP

#include "vocabulary.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <queue>
#include <tuple>
#include <vector>

namespace serve {

/// A stretch of text and its token, or no_token where the vocabulary has none.
struct Symbol {
  static constexpr Token no_token = -1;

  std::size_t begin;
  std::size_t length;
  Token token;
};

/// What two neighbours would become, and how urgent that is: the lowest rank goes first.
struct Merge {
  double rank;
  Token token;
};

/// Merges neighbours until no pair can be merged: always the pair of the lowest rank, the leftmost of equals.
/// `find(left, right)` returns an optional<Merge>. Takes O(n log n) steps for n symbols.
template <class Find>
std::vector<Symbol> merge_symbols(std::vector<Symbol> symbols, const Find& find) {
  // (rank, left, right, joint length, token); an entry is stale once either side has changed.
  using Candidate = std::tuple<double, std::size_t, std::size_t, std::size_t, Token>;
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
  const std::size_t none = symbols.size();
  std::vector<std::size_t> next(symbols.size());
  std::vector<std::size_t> previous(symbols.size());
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    next[i] = i + 1;
    previous[i] = i == 0 ? none : i - 1;
  }
  const auto propose = [&](std::size_t left, std::size_t right) {
    if (left == none || right == none) return;
    if (const std::optional<Merge> merge = find(symbols[left], symbols[right]))
      queue.emplace(merge->rank, left, right, symbols[left].length + symbols[right].length, merge->token);
  };
  for (std::size_t i = 1; i < symbols.size(); ++i) propose(i - 1, i);
  while (!queue.empty()) {
    const auto [rank, left, right, length, token] = queue.top();
    queue.pop();
    // A symbol that was merged away has length 0; one that grew is longer than when it was proposed.
    const bool stale = symbols[left].length == 0 || symbols[right].length == 0 ||
                       symbols[left].length + symbols[right].length != length;
    if (stale) continue;
    symbols[left].length = length;
    symbols[left].token = token;
    symbols[right].length = 0;
    next[left] = next[right];
    if (next[right] != none) previous[next[right]] = left;
    propose(previous[left], left);
    propose(left, next[left]);
  }
  std::erase_if(symbols, [](const Symbol& symbol) { return symbol.length == 0; });
  return symbols;
}

}  // namespace serve

#endif
