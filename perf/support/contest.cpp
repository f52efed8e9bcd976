// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "contest.hpp"

#include "turns.hpp"

#include <invar/version.hpp>

#include <benchmark/benchmark.h>
#include <Kokkos_Core.hpp>

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <regex>

namespace invar::perf {
namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Processor seconds that other programs have used on this machine; 0 where the system does not say.
double seconds_of_others() {
  std::ifstream file("/proc/stat");
  std::string cpu;
  double user = 0, nice = 0, system = 0;
  file >> cpu >> user >> nice >> system;
  rusage own{};
  getrusage(RUSAGE_SELF, &own);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  const double all = (user + nice + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
  return file ? all - seconds(own.ru_utime) - seconds(own.ru_stime) : 0;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return out + '"';
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

std::string title(const Case& work) {
  std::string text = work.operation;
  for (const auto& [key, value] : work.shape) text += ' ' + key + '=' + std::to_string(value);
  return text;
}

const char* role_name(Role role) { return role == Role::invar ? "invar" : role == Role::peer ? "peer" : "limit"; }

/// Collects microseconds by a contender's name, and prints nothing.
class Collector : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs)
      if (run.run_type == Run::RT_Iteration)
        times[run.run_name.function_name].push_back(run.real_accumulated_time / static_cast<double>(run.iterations) *
                                                    1e6);
  }
  std::map<std::string, std::vector<double>> times;
};

/// ‖x − y‖ / ‖y‖; infinite where they cannot be compared.
double relative_error(const std::vector<double>& x, const std::vector<double>& y) {
  if (x.size() != y.size()) return INFINITY;
  double error = 0, norm = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    error += (x[i] - y[i]) * (x[i] - y[i]);
    norm += y[i] * y[i];
  }
  return norm > 0 ? std::sqrt(error / norm) : error > 0 ? INFINITY : 0;
}

}  // namespace

Contests::Contests(int argc, char** argv) : threads_(Kokkos::DefaultHostExecutionSpace().concurrency()) {
  std::string name;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    std::string* const value = option == "--name"     ? &name
                               : option == "--out"    ? &out_
                               : option == "--filter" ? &filter_
                                                      : nullptr;
    if (value != nullptr && i + 1 < argc) {
      *value = argv[++i];
    } else if (option == "--quick") {
      quick_ = true;
    } else {
      std::fprintf(stderr, "options: [--quick] [--out FILE] [--filter REGEX]; not %s\n", argv[i]);
      std::exit(2);
    }
  }
  if (quick_) {
    repetitions_ = 7;
    min_seconds_ = 0.004;
  }
  std::string program = argv[0], interleaved = "--benchmark_enable_random_interleaving=true";
  char* arguments[] = {program.data(), interleaved.data(), nullptr};
  int count = 2;
  benchmark::Initialize(&count, arguments);
  started_ = now();
  others_ = seconds_of_others();
}

bool Contests::announce(const Case& work) {
  if (!filter_.empty() && !std::regex_search(title(work), std::regex(filter_))) return false;
  ++announced_;
  return true;
}

void Contests::skip(const std::string& peer, const std::string& reason) {
  std::fprintf(stderr, "SKIP: %s: %s\n", peer.c_str(), reason.c_str());
  skipped_ += (skipped_.empty() ? "" : ", ") + quoted(peer + ": " + reason);
}

void Contests::note(const std::string& key, const std::string& value) {
  notes_ += ", " + quoted(key) + ": " + quoted(value);
}

void Contests::run(const Case& work, const std::vector<Contender>& contenders) {
  static std::int64_t turn = 0;
  benchmark::ClearRegisteredBenchmarks();
  std::vector<double> expected;
  for (const Contender& contender : contenders) {
    contender.call(0);  // all of them with the same operands, to be compared
    if (contender.result) {
      const std::vector<double> result = contender.result();
      if (expected.empty()) expected = result;
      const double error = relative_error(result, expected);
      if (!(error <= contender.tolerance)) {
        std::fprintf(stderr, "WRONG: %s: %s differs from %s by %g, at most %g was expected\n", title(work).c_str(),
                     contender.name.c_str(), contenders[0].name.c_str(), error, contender.tolerance);
        std::exit(1);
      }
    }
    benchmark::RegisterBenchmark(contender.name.c_str(),
                                 [&contender](benchmark::State& state) {
                                   for (auto _ : state) contender.call(turn++);
                                 })
        ->UseRealTime()
        ->MinTime(min_seconds_)
        ->Repetitions(repetitions_);
  }
  Collector collector;
  benchmark::RunSpecifiedBenchmarks(&collector);

  std::string line, json;
  for (const Contender& contender : contenders) {
    std::vector<double> times = collector.times.at(contender.name);
    std::sort(times.begin(), times.end());
    line += (line.empty() ? "" : ", ") + contender.name + ' ' + number(median(times));
    json += (json.empty() ? "" : ",\n      ") + std::string("{\"name\": ") + quoted(contender.name) + ", \"role\": \"" +
            role_name(contender.role) + "\", \"us\": " + number(median(times)) +
            ", \"least\": " + number(times.front()) + ", \"most\": " + number(times.back()) +
            ", \"count\": " + std::to_string(times.size()) + '}';
  }
  std::string shape;
  for (const auto& [key, value] : work.shape)
    shape += (shape.empty() ? "" : ", ") + quoted(key) + ": " + std::to_string(value);
  cases_ += (cases_.empty() ? "" : ",\n") + std::string("    {\"operation\": ") + quoted(work.operation) +
            ", \"shape\": {" + shape + "}, \"threads\": " + std::to_string(threads_) +
            ", \"bytes\": " + number(work.bytes) + ", \"flops\": " + number(work.flops) +
            ",\n     \"contenders\": [\n      " + json + "]}";
  ++done_;
  const double spent = now() - started_;
  std::printf("[%d/%d, %.0f s] %s, %d thread%s, us: %s\n", done_, announced_, spent, title(work).c_str(), threads_,
              threads_ == 1 ? "" : "s", line.c_str());
  std::fflush(stdout);
}

int Contests::finish() const {
  const double others = std::max(0.0, seconds_of_others() - others_) / std::max(1.0, now() - started_);
  if (others > 0.1) std::fprintf(stderr, "the machine was busy: other programs kept %.2f processors at work\n", others);
  if (out_.empty()) return 0;
  std::ofstream file(out_);
  file << "{\"threads\": " << threads_ << ", \"quick\": " << (quick_ ? "true" : "false")
       << ", \"repetitions\": " << repetitions_ << ", \"others\": " << number(others) << ",\n  \"invar\": \""
       << INVAR_VERSION_MAJOR << '.' << INVAR_VERSION_MINOR << '.' << INVAR_VERSION_PATCH << "\", \"kokkos\": \""
       << KOKKOS_VERSION / 10000 << '.' << KOKKOS_VERSION / 100 % 100 << '.' << KOKKOS_VERSION % 100
       << "\",\n  \"execution space\": " << quoted(Kokkos::DefaultHostExecutionSpace::name())
       << ", \"compiler\": " << quoted(INVAR_PERF_COMPILER) << ", \"flags\": " << quoted(INVAR_PERF_FLAGS) << notes_
       << ",\n  \"skipped\": [" << skipped_ << "],\n  \"cases\": [\n"
       << cases_ << "]}\n";
  if (file.flush()) return 0;
  std::fprintf(stderr, "cannot write %s\n", out_.c_str());
  return 1;
}

}  // namespace invar::perf
