// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matmul on Hopper's matrix unit through the library's own calls and choices, against cuBLAS:
//
//   perf.cuda_matrix_unit [--type bf16|fp16] [--layout nk|kn] [--sections products,epilogues,formats,launches]
//                         [--most-rows M] [--seconds S] [--json FILE]
//
// Markdown goes to the standard output. Operands are normal random numbers. "Cold" is one call alone after the
// second-level cache was emptied by reading; "back to back" is one of many in a graph, with weights in turn from more
// memory than the cache holds. Contenders take turns in an order drawn anew each round, and a figure is the median over
// rounds. cuBLAS: cublasGemmEx, and the fastest of the eight algorithms that cublasLt proposes for the shape.
#include "matrix_unit_epilogues.hpp"
#include "matrix_unit_formats.hpp"
#include "matrix_unit_launches.hpp"
#include "matrix_unit_products.hpp"

#include <invar/version.hpp>

#include <Kokkos_Core.hpp>

#include <cublasLt.h>
#include <cublas_v2.h>

#include <cstdlib>
#include <ctime>
#include <exception>
#include <fstream>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>

namespace {

using namespace invar::perf;

struct Options {
  std::string type = "bf16", layout = "nk", sections = "products,epilogues,formats,launches", most_rows = "8192",
              seconds = "55", json;

  Options(int argc, char** argv) {
    std::map<std::string, std::string*> known{{"--type", &type},         {"--layout", &layout},
                                              {"--sections", &sections}, {"--most-rows", &most_rows},
                                              {"--seconds", &seconds},   {"--json", &json}};
    for (int i = 1; i < argc; ++i) {
      const auto option = known.find(argv[i]);
      if (option == known.end() || i + 1 == argc) throw std::invalid_argument(std::string("option ") + argv[i]);
      *option->second = argv[++i];
    }
    if (type != "bf16" && type != "fp16") throw std::invalid_argument("--type is bf16 or fp16");
    if (layout != "nk" && layout != "kn") throw std::invalid_argument("--layout is nk or kn");
  }
  bool has(const char* section) const { return sections.find(section) != std::string::npos; }
};

/// All that a reader needs to judge the figures.
std::map<std::string, std::string> context(const Options& options) {
  cudaDeviceProp device{};
  int runtime = 0, driver = 0, number = 0;
  check(cudaGetDevice(&number));
  check(cudaGetDeviceProperties(&device, number));
  check(cudaRuntimeGetVersion(&runtime));
  check(cudaDriverGetVersion(&driver));
  char date[32];
  const std::time_t now = std::time(nullptr);
  std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
  const auto version = [](int v) { return std::to_string(v / 1000) + "." + std::to_string(v % 1000 / 10); };
  std::map<std::string, std::string> result{
      {"device", device.name},
      {"date", date},
      {"cuda", version(runtime) + ", driver for " + version(driver)},
      {"cublas", std::to_string(cublasLtGetVersion())},
      {"kokkos", std::to_string(KOKKOS_VERSION)},
      {"invar", std::to_string(INVAR_VERSION_MAJOR) + "." + std::to_string(INVAR_VERSION_MINOR) + "." +
                    std::to_string(INVAR_VERSION_PATCH)},
      {"type", options.type},
      {"layout", options.layout}};
#ifdef INVAR_PERF_FLAGS
  result["compiler"] = INVAR_PERF_COMPILER;
  result["flags"] = INVAR_PERF_FLAGS;
#endif
  return result;
}

/// Runs the sections; one that fails is named, and the others still run.
template <class T>
std::string run(Bench& bench, const Options& options) {
  using invar::contract::Matmul;
  std::string failures;
  const auto section = [&](const char* name, const auto& work) {
    if (!options.has(name)) return;
    try {
      work();
    } catch (const std::exception& error) {
      failures += std::string(failures.empty() ? "" : "; ") + name + ": " + error.what();
    }
  };
  section("products", [&] { measure_products<T>(bench); });
  section("launches", [&] { measure_launches<T>(bench); });
  section("epilogues", [&] {
    measure_gated<T>(bench);
    measure_residual<T>(bench);
  });
  section("formats", [&] {
    measure_format<invar::contract::MatmulTo<invar::hopper_tf32, float>, float, float>(bench, "tf32",
                                                                                       "tf32 into float");
    measure_format<Matmul<invar::hopper_fp8>, invar::float8_e4m3_t, invar::bfloat16_t>(bench, "fp8",
                                                                                       "fp8 (e4m3) into bf16");
  });
  return failures;
}

void write_json(const std::string& name, const std::map<std::string, std::string>& about, const Bench& bench) {
  std::ofstream file(name);
  file << "{\n";
  for (const auto& [key, value] : about) file << "  " << quoted(key) << ": " << quoted(value) << ",\n";
  file << "  \"wrong_outputs\": " << bench.wrong;
  for (const Table& table : bench.tables) {
    file << ",\n";
    table.json(file);
  }
  file << "\n}\n";
  if (!file.flush()) throw std::runtime_error("cannot write " + name);
}

int measure(const Options& options) {
  auto about = context(options);
  std::cout << "# Products on the matrix unit\n\n";
  for (const auto& [key, value] : about) std::cout << "- " << key << ": " << value << "\n";
  std::cout
      << "\nOperands are normal random numbers. Cold: one call alone, after the second-level cache was emptied by "
         "reading. Back to back:\none of many in a graph, with weights in turn from more memory than the cache "
         "holds. Contenders take turns in an order\ndrawn anew each round; medians over rounds. Lt: the fastest of "
         "the algorithms that cublasLt proposes for the shape,\nfound beforehand. Means are geometric.\n";
  int number = 0, major = 0;
  check(cudaGetDevice(&number));
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, number));
  if (major != 9) {
    std::cout << "SKIP: this is no Hopper; its contract would run through the software model\n";
    return 0;
  }
  Bench bench;
  bench.by_rows = options.layout == "nk";
  bench.most_rows = std::stoi(options.most_rows);
  bench.seconds = std::stod(options.seconds);
  const std::string failures =
      options.type == "fp16" ? run<invar::float16_t>(bench, options) : run<invar::bfloat16_t>(bench, options);
  if (bench.was_late()) std::cout << "\nThe time was up: not all shapes were measured.\n";
  if (!failures.empty()) {
    std::cout << "\nFAILED: " << failures << std::endl;
    about["failed"] = failures;
  }
  if (!options.json.empty()) write_json(options.json, about, bench);
  return !failures.empty() ? 2 : bench.wrong != 0 ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Options options(argc, argv);
    Kokkos::ScopeGuard kokkos;
    return measure(options);
  } catch (const std::exception& error) {
    std::cerr << error.what() << std::endl;
    return 2;
  }
}
