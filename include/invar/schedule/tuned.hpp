// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Schedules that were measured on the user's device, for matmul. No schedule changes a bit, so a table of them may
/// come from anywhere: another machine, an older version, a file that someone edited.
#ifndef INVAR_SCHEDULE_TUNED_HPP
#define INVAR_SCHEDULE_TUNED_HPP

#include <invar/error.hpp>
#include <invar/schedule/matmul.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <string>
#include <vector>

namespace invar::schedule {

/// The fastest schedule for c [m, n] with a sum over k, by its name.
struct TunedShape {
  std::int64_t m, n, k;
  const char* schedule;
};

/// A table of tuned shapes, as perf/tune writes it, whose names have been looked up:
///
///     #include "tuned.hpp"  // from perf/tune
///     const invar::schedule::Tuned tuned(invar::schedule::matrix_unit_matmul_table<Exec>, tuned_shapes);
///     invar::matmul<Contract>(exec, c, a, b, tuned.find(m, n, k));
///
/// or read from a file at run time, by Tuned::read.
class Tuned {
 public:
  Tuned() = default;

  /// \param table   the schedules that the operation has: matmul_table or matrix_unit_matmul_table of a backend
  /// \param shapes  a range of TunedShape, in any order; of two for one shape, the later counts
  /// \throws invar::error  where the table has no schedule of a name
  template <class Table, class Shapes>
  Tuned(const Table& table, const Shapes& shapes) {
    for (const TunedShape& shape : shapes) add(table, shape.m, shape.n, shape.k, shape.schedule);
  }

  /// Reads lines of "M N K NAME"; a line that is empty or begins with # says nothing.
  /// \throws invar::error  naming the line that reads otherwise, or whose schedule the table does not have
  template <class Table>
  static Tuned read(const Table& table, std::istream& lines) {
    Tuned tuned;
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) {
      if (!line.empty() && line.back() == '\r') line.pop_back();
      if (line.empty() || line[0] == '#') continue;
      const Line read = split(line);
      if (read.name.empty())
        throw error("schedule::Tuned", "line " + std::to_string(number), "M N K and a schedule's name", line);
      tuned.add(table, read.extent[0], read.extent[1], read.extent[2], read.name);
    }
    return tuned;
  }

  /// The schedule for a shape, which lives as long as the library's table; or null, which lets the library choose. It
  /// is the one measured for (n, k) and the least number of rows that is not below m.
  const Matmul* find(std::int64_t m, std::int64_t n, std::int64_t k) const {
    const Entry key{n, k, m, nullptr};
    const auto found = std::lower_bound(entries_.begin(), entries_.end(), key, Entry::before);
    return found != entries_.end() && found->n == n && found->k == k ? found->schedule : nullptr;
  }

  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::int64_t n, k, m;
    const Matmul* schedule;
    static bool before(const Entry& a, const Entry& b) {
      return a.n != b.n ? a.n < b.n : a.k != b.k ? a.k < b.k : a.m < b.m;
    }
  };
  struct Line {
    std::int64_t extent[3] = {};
    std::string name;  // empty where the line is not one
  };

  /// Three extents above 0 and, after one space, a name.
  static Line split(const std::string& line) {
    Line result;
    std::size_t at = 0;
    for (std::int64_t& extent : result.extent) {
      const std::size_t begin = at;
      for (; at < line.size() && line[at] >= '0' && line[at] <= '9' && at - begin < 18; ++at)
        extent = 10 * extent + (line[at] - '0');
      if (extent == 0 || at >= line.size() || line[at++] != ' ') return {};
    }
    result.name = line.substr(at);
    return result;
  }

  template <class Table>
  void add(const Table& table, std::int64_t m, std::int64_t n, std::int64_t k, const std::string& name) {
    const auto found =
        std::find_if(table.begin(), table.end(), [&](const Matmul& entry) { return name == entry.name; });
    if (found == table.end()) throw error("schedule::Tuned", "schedule", "one of the table's", name);
    const Entry entry{n, k, m, &*found};
    const auto at = std::lower_bound(entries_.begin(), entries_.end(), entry, Entry::before);
    if (at != entries_.end() && !Entry::before(entry, *at))
      at->schedule = entry.schedule;
    else
      entries_.insert(at, entry);
  }

  std::vector<Entry> entries_;  // in order, one of a shape
};

}  // namespace invar::schedule

#endif
