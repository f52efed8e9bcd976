// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tokens per second of examples/02_serve: BATCH prompts in one step, then one token of each of them a step. A warm-up
// comes first. Prints a line of JSON a batch, with the names that llama-batched-bench gives the same numbers:
//
//   perf.model MODEL.gguf [--precision f32|bf16] [--batches 1,8,32] [--prompt 32] [--tokens 32]
#include "engine.hpp"
#include "gguf.hpp"
#include "model_config.hpp"

#include <Kokkos_Core.hpp>

#include <chrono>
#include <cstdio>
#include <exception>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

struct Speed {
  double prompt, answer;  ///< tokens per second
};

Speed measure(serve::Engine& engine, std::size_t batch, std::size_t prompt, std::size_t tokens) {
  engine.set_cache({batch, prompt + tokens, 1});
  const std::vector<serve::Token> text(prompt, 1);
  std::vector<int> page(batch);
  std::vector<serve::Token> next(batch, 1);
  std::vector<serve::Slice> slices(batch);
  for (std::size_t i = 0; i < batch; ++i) {
    page[i] = static_cast<int>(i);
    slices[i] = {text, 0, {&page[i], 1}, i + 1 == batch};
  }
  const double begin = now();
  engine.step(slices);
  const double middle = now();
  for (std::size_t t = 0; t < tokens; ++t) {
    for (std::size_t i = 0; i < batch; ++i) slices[i] = {{&next[i], 1}, prompt + t, {&page[i], 1}, true};
    const auto predictions = engine.step(slices);
    for (std::size_t i = 0; i < batch; ++i) next[i] = predictions[i].token;
  }
  const double end = now();
  return {static_cast<double>(batch * prompt) / (middle - begin), static_cast<double>(batch * tokens) / (end - middle)};
}

void run(int argc, char** argv) {
  std::map<std::string, std::string> options{
      {"--precision", "f32"}, {"--batches", "1,8,32"}, {"--prompt", "32"}, {"--tokens", "32"}};
  if (argc < 2) throw std::invalid_argument("a GGUF file is needed");
  for (int i = 2; i < argc; i += 2) {
    const auto option = options.find(argv[i]);
    if (option == options.end() || i + 1 == argc) throw std::invalid_argument(std::string("option ") + argv[i]);
    option->second = argv[i + 1];
  }
  const auto file = serve::gguf::File::open(argv[1]);
  const auto config = serve::read_model_config(file);
  serve::EngineOptions wanted;
  wanted.precision = options["--precision"] == "bf16" ? serve::Precision::bf16 : serve::Precision::f32;
  const auto engine = serve::make_engine(file, config, serve::find_model_tensors(file, config), wanted);
  const std::size_t prompt = std::stoul(options["--prompt"]), tokens = std::stoul(options["--tokens"]);
  measure(*engine, 1, 16, 2);
  std::istringstream batches(options["--batches"]);
  for (std::string batch; std::getline(batches, batch, ',');) {
    const Speed speed = measure(*engine, std::stoul(batch), prompt, tokens);
    std::printf("{\"pp\": %zu, \"tg\": %zu, \"pl\": %s, \"speed_pp\": %.3f, \"speed_tg\": %.3f}\n", prompt, tokens,
                batch.c_str(), speed.prompt, speed.answer);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    Kokkos::ScopeGuard kokkos;
    run(argc, argv);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "perf.model: %s\n", error.what());
    return 1;
  }
}
