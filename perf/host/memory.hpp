// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What memory allows: loops that read, or copy, and do no more. And random data of a size that fills memory quickly.
#ifndef INVAR_PERF_HOST_MEMORY_HPP
#define INVAR_PERF_HOST_MEMORY_HPP

#include <invar/num/types.hpp>
#include <invar/verify/random.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace invar::perf {

using Exec = Kokkos::DefaultHostExecutionSpace;
template <class T>
using Matrix = Kokkos::View<T**, Kokkos::LayoutRight, Exec>;
template <class T>
using Vector = Kokkos::View<T*, Exec>;

/// Random data that every machine makes alike, by all threads: a page lies near the thread that will read it.
template <class T>
void fill(T* data, std::int64_t count, std::uint64_t seed) {
  Kokkos::parallel_for("fill", Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(0, count),
                       [=](std::int64_t i) { data[i] = verify::random_value<T>(seed, static_cast<std::uint64_t>(i)); });
  Kokkos::fence();
}
template <class View>
void fill(const View& view, std::uint64_t seed) {
  fill(view.data(), static_cast<std::int64_t>(view.size()), seed);
}

/// Calls work(begin, end) on each thread with its part of [0, count); all begin at a multiple of 64.
template <class Work>
void in_parts(const Exec& exec, std::int64_t count, const Work& work) {
  const std::int64_t workers = exec.concurrency();
  const std::int64_t part = (count / 64 + workers - 1) / workers * 64;
  Kokkos::parallel_for("in parts", Kokkos::RangePolicy<Exec>(exec, 0, workers), [=](std::int64_t worker) {
    work(std::min(worker * part, count), std::min((worker + 1) * part, count));
  });
  exec.fence();
}

/// Reads all of `bytes`, a multiple of 2 KiB for each thread. A thread reads four streams: more come from memory at a
/// time than with one.
inline void read_loop(const Exec& exec, const void* memory, std::int64_t bytes) {
  const auto* const words = static_cast<const std::uint64_t*>(memory);
  in_parts(exec, bytes / 8, [=](std::int64_t begin, std::int64_t end) {
    constexpr int streams = 4, step = 32;
    const std::int64_t stream = (end - begin) / streams / step * step;
    std::uint64_t sums[step] = {};
    for (std::int64_t i = 0; i < stream; i += step)
      for (int s = 0; s < streams; ++s)
        for (int lane = 0; lane < step; ++lane) sums[lane] += words[begin + s * stream + i + lane];
    std::uint64_t sum = 0;
    for (const std::uint64_t s : sums) sum += s;
    asm volatile("" : : "r"(sum) : "memory");  // the sum is wanted
  });
}

/// A loop of loads and stores, for a multiple of 512 bytes. The empty assembly keeps the compiler from calling memcpy
/// instead, which for large sizes writes past the cache; that is a limit of its own.
inline void copy_loop(const Exec& exec, void* to, const void* from, std::int64_t bytes) {
  auto* const target = static_cast<std::uint64_t*>(to);
  const auto* const source = static_cast<const std::uint64_t*>(from);
  in_parts(exec, bytes / 8, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t block = begin; block < end; block += 64) {
      for (std::int64_t i = block; i < block + 64; ++i) target[i] = source[i];
      asm volatile("" : : : "memory");
    }
  });
}

inline void copy_by_memcpy(const Exec& exec, void* to, const void* from, std::int64_t bytes) {
  in_parts(exec, bytes, [=](std::int64_t begin, std::int64_t end) {
    std::memcpy(static_cast<char*>(to) + begin, static_cast<const char*>(from) + begin,
                static_cast<std::size_t>(end - begin));
  });
}

/// Up to 2^16 elements of a view spread over it, to be compared.
template <class View>
std::vector<double> sample(const View& view) {
  const auto* const data = view.data();
  const std::int64_t size = static_cast<std::int64_t>(view.size()), step = std::max<std::int64_t>(1, size >> 16 | 1);
  std::vector<double> values;
  for (std::int64_t i = 0; i < size; i += step) values.push_back(static_cast<double>(num::widen(data[i])));
  return values;
}

}  // namespace invar::perf

#endif
