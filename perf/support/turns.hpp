// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Contenders that take turns, so that the machine's heat and clock fall on all of them alike. In each round they come
// in an order drawn anew, so that none always follows another.
#ifndef INVAR_PERF_SUPPORT_TURNS_HPP
#define INVAR_PERF_SUPPORT_TURNS_HPP

#include <algorithm>
#include <cstddef>
#include <functional>
#include <random>
#include <vector>

namespace invar::perf {

/// Microseconds of one call.
struct Figure {
  double cold = 0;     ///< alone, from an empty cache
  double rotated = 0;  ///< one of many in a row, each with weights that the cache no longer holds
};

/// Work with one of several copies of its weights.
using Call = std::function<void(int copy)>;

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 != 0 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// The median over rounds of time(i), for each of `count` contenders.
template <class Time>
std::vector<double> in_turns(std::size_t count, int rounds, const Time& time) {
  std::vector<std::vector<double>> times(count);
  std::vector<std::size_t> order(count);
  for (std::size_t i = 0; i < count; ++i) order[i] = i;
  std::mt19937 random(1);
  for (int round = 0; round < rounds; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t i : order) times[i].push_back(time(i));
  }
  std::vector<double> medians;
  for (const auto& t : times) medians.push_back(median(t));
  return medians;
}

}  // namespace invar::perf

#endif
