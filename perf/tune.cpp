// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Measures every schedule of matmul on this machine, for the shapes that are asked for, and writes the fastest of each:
//
//   tune [--product f32|bf16|hopper_bf16|hopper_fp16] [--layout nk|kn] [--m 1,8,64] [--nk 4096x4096,1024x4096]
//        [--header FILE] [--lines FILE] [--name tuned_shapes]
//
// --header is C++ to be compiled in, --lines the same for schedule::Tuned::read; Markdown goes to the standard output.
// hopper_… are products with Hopper's matrix unit, the others are ieee. Every schedule must give the same bits: where
// one does not, the program says so, writes no table and ends with status 1.
#include "tune_timer.hpp"

#include <invar/op/matmul.hpp>
#include <invar/schedule/tuned.hpp>
#include <invar/verify/digest.hpp>
#include <invar/verify/random.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using namespace invar;
using Exec = Kokkos::DefaultExecutionSpace;
template <class T>
using Matrix = Kokkos::View<T**, Kokkos::LayoutRight, Exec>;
template <class T>
using Weights = Kokkos::View<const T**, Kokkos::LayoutStride, Exec, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

struct Options {
  std::string product = schedule::runs_on_host_v<Exec> ? "f32" : "hopper_bf16", layout = "nk", m = "1,8,64,256",
              nk = "4096x4096", header, lines, name = "tuned_shapes";

  Options(int argc, char** argv) {
    std::map<std::string, std::string*> known{{"--product", &product}, {"--layout", &layout}, {"--m", &m},
                                              {"--nk", &nk},           {"--header", &header}, {"--lines", &lines},
                                              {"--name", &name}};
    for (int i = 1; i < argc; ++i) {
      const auto option = known.find(argv[i]);
      if (option == known.end() || i + 1 == argc) throw std::invalid_argument(std::string("option ") + argv[i]);
      *option->second = argv[++i];
    }
    if (layout != "nk" && layout != "kn") throw std::invalid_argument("--layout is nk or kn");
  }
};

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

/// Random data that every machine makes alike.
template <class T>
void fill(const Exec& exec, const Matrix<T>& matrix, std::uint64_t seed) {
  T* const data = matrix.data();
  Kokkos::parallel_for(
      "fill", Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, matrix.size()),
      KOKKOS_LAMBDA(std::int64_t i) { data[i] = verify::random_value<T>(seed, static_cast<std::uint64_t>(i)); });
}

KOKKOS_INLINE_FUNCTION std::uint64_t bits(float x) { return num::to_bits(x); }
template <class T>
KOKKOS_INLINE_FUNCTION std::uint64_t bits(T x) {
  return x.bits;
}

/// A hash of all bits and their places, made where the matrix lies. A sum of integers has no order.
template <class T>
std::uint64_t fingerprint(const Exec& exec, const Matrix<T>& matrix) {
  const T* const data = matrix.data();
  std::uint64_t hash = 0;
  Kokkos::parallel_reduce(
      "fingerprint", Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, matrix.size()),
      KOKKOS_LAMBDA(std::int64_t i, std::uint64_t & sum) {
        sum += verify::random_bits(bits(data[i]), static_cast<std::uint64_t>(i));
      },
      hash);
  return hash;
}

struct Tuning {
  std::int64_t m, n, k;
  const schedule::Matmul *chosen, *fastest;
  perf::Figure of_chosen, of_fastest;
  std::uint64_t hash;
  int schedules, refused;
};

/// The schedules of a contract, and the library's own choice.
template <class Contract>
const auto& table() {
  if constexpr (contract::is_matrix_unit_v<typename Contract::arithmetic>)
    return schedule::matrix_unit_matmul_table<Exec>;
  else
    return schedule::matmul_table<Exec>;
}
template <class Contract>
const schedule::Matmul& choice(const Exec& exec, std::int64_t m, std::int64_t n, std::int64_t k, bool by_rows) {
  (void)by_rows;
  if constexpr (contract::is_matrix_unit_v<typename Contract::arithmetic>)
    return schedule::choose_matrix_unit_matmul(exec,
                                               {m, n, k, Contract::leaf, by_rows, Contract::arithmetic::operand_bytes});
  else
    return schedule::choose_matmul(exec, m, n, k);
}

/// True for the software model of a matrix unit, an output at a time.
template <class Contract>
bool is_model_alone(const schedule::Matmul& entry) {
  return contract::is_matrix_unit_v<typename Contract::arithmetic> && entry.tile_m == 1 && entry.tile_n == 1;
}

template <class Contract, class T>
Tuning tune(perf::DeviceTurns& turns, std::int64_t m, std::int64_t n, std::int64_t k, bool by_rows) {
  const Exec& exec = turns.exec();
  const std::int64_t bytes = n * k * static_cast<std::int64_t>(sizeof(T));
  const int copies = static_cast<int>(std::clamp<std::int64_t>((std::int64_t{256} << 20) / bytes, 1, 32));
  const Matrix<T> a("a", m, k), all("b", copies * n, k), c("c", m, n);
  fill(exec, a, 1);
  fill(exec, all, 2);
  std::vector<Weights<T>> b;
  for (int i = 0; i < copies; ++i)
    b.emplace_back(all.data() + i * n * k,
                   by_rows ? Kokkos::LayoutStride(k, 1, n, k) : Kokkos::LayoutStride(k, n, n, 1));

  Tuning result{m, n, k, &choice<Contract>(exec, m, n, k, by_rows), nullptr, {}, {}, 0, 0, 0};
  struct Contender {
    const schedule::Matmul* schedule;
    perf::Call call;
    double once;
  };
  std::vector<Contender> contenders;
  for (const schedule::Matmul& entry : table<Contract>()) {
    Contender contender{&entry,
                        [&exec, &c, &a, &b, &entry](int copy) { matmul<Contract>(exec, c, a, b[copy], &entry); }, 0};
    Kokkos::deep_copy(exec, c, T(-1.0f));
    try {
      contender.call(0);
    } catch (const error&) {  // the schedule does not take this shape
      ++result.refused;
      continue;
    }
    const std::uint64_t hash = fingerprint(exec, c);
    if (result.schedules++ == 0) result.hash = hash;
    if (hash != result.hash)
      throw std::runtime_error(std::string("DIFFERENT BITS: schedule \"") + entry.name + "\" gives " +
                               verify::to_hex(hash) + ", another gave " + verify::to_hex(result.hash) + " for M " +
                               std::to_string(m) + ", N " + std::to_string(n) + ", K " + std::to_string(k));
    contender.once = std::min(turns.once(contender.call), turns.once(contender.call));
    contenders.push_back(contender);
  }
  // The slow ones drop out; the library's choice stays as the measure.
  const auto slower = [](const Contender& x, const Contender& y) { return x.once < y.once; };
  const double limit = 1.5 * std::min_element(contenders.begin(), contenders.end(), slower)->once;
  std::erase_if(contenders, [&](const Contender& x) { return x.once > limit && x.schedule != result.chosen; });

  std::vector<perf::Call> calls;
  for (const Contender& contender : contenders) calls.push_back(contender.call);
  const std::vector<perf::Figure> figures = turns.measure(calls, copies);
  const auto cost = [](const perf::Figure& f) { return f.cold + f.rotated; };
  for (std::size_t i = 0; i < figures.size(); ++i) {
    if (contenders[i].schedule == result.chosen) result.of_chosen = figures[i];
    if (result.fastest != nullptr && cost(figures[i]) >= cost(result.of_fastest)) continue;
    result.fastest = contenders[i].schedule;
    result.of_fastest = figures[i];
  }
  // Less than 2 % may be noise.
  if (cost(result.of_fastest) > 0.98 * cost(result.of_chosen)) {
    result.fastest = result.chosen;
    result.of_fastest = result.of_chosen;
  }
  return result;
}

std::string device_name() {
#ifdef KOKKOS_ENABLE_CUDA
  if constexpr (std::is_same_v<Exec, Kokkos::Cuda>) return Exec().cuda_device_prop().name;
#endif
  return std::string(Exec::name()) + ", " + std::to_string(Exec().concurrency()) + " threads";
}

/// Opens, writes and closes, or throws.
template <class Write>
void write_file(const std::string& name, const Write& write) {
  if (name.empty()) return;
  std::ofstream file(name);
  write(file);
  if (!file.flush()) throw std::runtime_error("cannot write " + name);
}

template <class Contract, class T>
void run(const Options& options) {
  const std::string title = device_name() + ": " + Contract::name() + ", " + options.product + ", weights " +
                            (options.layout == "nk" ? "[N, K]" : "[K, N]");
  std::cout << "## " << title << "\n\nMicroseconds, cold / back to back.\n\n"
            << "| M | N | K | the library's choice | | fastest | | fingerprint of the bits, schedules with it |\n"
            << "|---|---|---|---|---|---|---|---|" << std::endl;
  perf::DeviceTurns turns;
  std::vector<Tuning> tunings;
  for (const std::string& nk : split(options.nk, ',')) {
    const auto extents = split(nk, 'x');
    if (extents.size() != 2) throw std::invalid_argument("--nk is a list like 4096x4096,1024x4096");
    for (const std::string& m : split(options.m, ',')) {
      const Tuning t = tune<Contract, T>(turns, std::stoll(m), std::stoll(extents[0]), std::stoll(extents[1]),
                                         options.layout == "nk");
      tunings.push_back(t);
      char line[320];
      std::snprintf(line, sizeof line, "| %lld | %lld | %lld | %s | %.1f / %.1f | %s | %.1f / %.1f | %s, %d%s |",
                    static_cast<long long>(t.m), static_cast<long long>(t.n), static_cast<long long>(t.k),
                    t.chosen->name, t.of_chosen.cold, t.of_chosen.rotated,
                    t.fastest == t.chosen ? "the same" : t.fastest->name, t.of_fastest.cold, t.of_fastest.rotated,
                    verify::to_hex(t.hash).c_str(), t.schedules,
                    t.refused == 0 ? "" : (", " + std::to_string(t.refused) + " refused").c_str());
      std::cout << line << std::endl;
    }
  }
  write_file(options.header, [&](std::ostream& file) {
    file << "// Written by perf/tune. " << title << ".\n#pragma once\n\n#include <invar/schedule/tuned.hpp>\n\n"
         << "inline constexpr invar::schedule::TunedShape " << options.name << "[] = {\n";
    for (const Tuning& t : tunings)
      file << "    {" << t.m << ", " << t.n << ", " << t.k << ", \"" << t.fastest->name << "\"},\n";
    file << "};\n";
  });
  write_file(options.lines, [&](std::ostream& file) {
    file << "# Written by perf/tune. " << title << ".\n";
    for (const Tuning& t : tunings) file << t.m << ' ' << t.n << ' ' << t.k << ' ' << t.fastest->name << '\n';
  });
}

void dispatch(const Options& options) {
  using contract::Matmul;
  if (options.product == "f32") return run<Matmul<ieee>, float>(options);
  if (options.product == "bf16") return run<Matmul<ieee>, bfloat16_t>(options);
  if (options.product == "hopper_bf16") return run<Matmul<hopper_16bit>, bfloat16_t>(options);
  if (options.product == "hopper_fp16") return run<Matmul<hopper_16bit>, float16_t>(options);
  throw std::invalid_argument("--product is f32, bf16, hopper_bf16 or hopper_fp16");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Options options(argc, argv);
    Kokkos::ScopeGuard kokkos;
    dispatch(options);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << std::endl;
    return 1;
  }
}
