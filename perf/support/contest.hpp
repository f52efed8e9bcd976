// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Contests: the same work by several contenders, timed by Google Benchmark in one process. Their repetitions come in
// random order, so that the machine's heat and clock fall on all of them alike; a figure is the median of them.
#ifndef INVAR_PERF_SUPPORT_CONTEST_HPP
#define INVAR_PERF_SUPPORT_CONTEST_HPP

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace invar::perf {

/// What a contender is to the table of ratios.
enum class Role {
  invar,
  peer,   ///< another library's way to the same result
  limit,  ///< a loop that moves the same bytes and does no more
};

struct Contender {
  std::string name;
  Role role;
  /// Does the work and waits until it is done. Turns rise by one from call to call over all contenders, so that work
  /// with weights number (turn mod copies) has the copy that was not touched for longest.
  std::function<void(std::int64_t turn)> call;
  /// What it computed, of which the first contender's is the measure; empty where there is nothing to compare.
  std::function<std::vector<double>()> result = {};
  /// Largest relative error of the result, in the 2-norm.
  double tolerance = 1e-4;
};

struct Case {
  std::string operation;
  std::vector<std::pair<std::string, std::int64_t>> shape;
  double bytes = 0;  ///< that must come from memory or go there, in Invar's form of the work
  double flops = 0;  ///< of the work, where they may be the limit
};

/// The contests of one program: runs them, shows progress, and writes JSON.
class Contests {
 public:
  /// Options: --name NAME, --quick, --out FILE, --filter REGEX over "operation key=value …". Kokkos is initialized.
  Contests(int argc, char** argv);

  /// True for a selection of shapes that takes a minute.
  bool quick() const { return quick_; }
  int threads() const { return threads_; }

  /// Says beforehand that a case will come, for the progress; false where the filter leaves it out.
  bool announce(const Case& work);

  /// Says that a peer is missing, and why.
  void skip(const std::string& peer, const std::string& reason);
  /// A word on how this program measures, for the report.
  void note(const std::string& key, const std::string& value);

  /// Measures one case. Ends the program where a contender's result is not the first one's.
  void run(const Case& work, const std::vector<Contender>& contenders);

  /// Writes the file; the exit status of main.
  int finish() const;

 private:
  bool quick_ = false;
  int threads_ = 0, repetitions_ = 9, announced_ = 0, done_ = 0;
  double min_seconds_ = 0.02, started_ = 0, others_ = 0;
  std::string out_, filter_, cases_, skipped_, notes_;
};

}  // namespace invar::perf

#endif
