// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Serves a language model to many requests at once, and shows that each gets the bits it gets alone.

#include "chat.hpp"
#include "comparison.hpp"
#include "default_model.hpp"
#include "device.hpp"
#include "engine.hpp"
#include "gguf.hpp"
#include "model_config.hpp"
#include "options.hpp"
#include "prompts.hpp"
#include "report.hpp"
#include "runs.hpp"
#include "tokenizer.hpp"
#include "workload.hpp"

#include <Kokkos_Core.hpp>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace {

/// A model file and what was read from it.
struct Model {
  explicit Model(const std::filesystem::path& path)
      : file(serve::gguf::File::open(path)),
        config(serve::read_model_config(file)),
        tensors(serve::find_model_tensors(file, config)),
        tokenizer(file),
        chat(file, tokenizer) {
    const auto tokens = static_cast<std::size_t>(tokenizer.vocabulary().size());
    if (tokens != config.vocabulary)
      file.fail("the tokenizer has " + std::to_string(tokens) + " tokens but the embedding " +
                std::to_string(config.vocabulary) + " rows");
  }
  Model(const Model&) = delete;  // chat refers to tokenizer
  Model& operator=(const Model&) = delete;

  serve::gguf::File file;
  serve::ModelConfig config;
  serve::ModelTensors tensors;
  serve::Tokenizer tokenizer;
  serve::Chat chat;
};

std::unique_ptr<serve::Engine> make_engine(const Model& model, const serve::Options& options, serve::Device device,
                                           bool graph) {
  serve::EngineOptions wanted;
  wanted.kernels = options.kernels == "variant" ? serve::KernelKind::variant : serve::KernelKind::invariant;
  wanted.precision = options.precision == "bf16" ? serve::Precision::bf16 : serve::Precision::f32;
  wanted.device = device;
  wanted.graph = graph;
  return serve::make_engine(model.file, model.config, model.tensors, wanted);
}

/// The kernels, as reports name them.
std::string label(const serve::Options& options) { return options.kernels + " " + options.precision; }

void print_model(const serve::ModelConfig& config, const serve::Options& options) {
  std::printf("%s: %zu layers, width %zu, %zu heads of %zu (%zu for keys and values), vocabulary %zu, %s\n",
              serve::gguf::printable(config.name).c_str(), config.layers, config.embedding, config.heads,
              config.head_size, config.kv_heads, config.vocabulary, options.precision.c_str());
}

/// Serves on one device, in the batch and alone, and prints what came out.
int serve_on(serve::Device device, const Model& model, const serve::Options& options,
             const std::vector<std::string>& questions, const serve::Job& job) {
  const bool graph = options.graph == "on";
  if (device == serve::Device::cuda)
    std::printf("on %s, decode steps %s\n", serve::device_name(device).c_str(), graph ? "from graphs" : "launched");
  const auto engine = make_engine(model, options, device, graph);
  serve::RunStatistics in_batch, alone;
  const std::vector<serve::Completion> batched = serve::answer_in_batch(*engine, job, in_batch);
  const auto by_prompt = serve::answer_alone(*engine, job, alone);
  const serve::Outcome outcome{questions, job.requests, batched, by_prompt};
  serve::print_report(stdout, outcome, model.tokenizer, label(options), in_batch, alone);
  // The variant kernels are here to be seen to differ.
  return options.kernels == "variant" || serve::equal_digests(outcome) == job.requests.size() ? 0 : 1;
}

/// Serves on the CPU and on the GPU, in several ways, and compares all logits with those of the first.
int compare_devices(const Model& model, const serve::Options& options, const serve::Job& job) {
  std::vector<serve::DeviceRun> runs;
  const auto alone = [&](serve::Engine& engine, const std::string& device, const char* steps) {
    serve::DeviceRun run{device, "alone", steps, {}, {}};
    const auto by_prompt = serve::answer_alone(engine, job, run.statistics);
    for (const serve::Request& request : job.requests) run.completions.push_back(*by_prompt[request.prompt]);
    runs.push_back(std::move(run));
  };
  const auto batched = [&](serve::Engine& engine, const std::string& device, const char* steps, std::size_t most) {
    serve::Job wider = job;
    wider.schedule.max_batch = most;
    serve::DeviceRun run{device, "up to " + std::to_string(most), steps, {}, {}};
    run.completions = serve::answer_in_batch(engine, wider, run.statistics);
    runs.push_back(std::move(run));
  };
  const std::size_t usual = job.schedule.max_batch;
  {
    const auto engine = make_engine(model, options, serve::Device::cpu, false);
    const std::string device = serve::device_name(serve::Device::cpu);
    alone(*engine, device, "-");
    batched(*engine, device, "-", usual);
  }
  const std::string device = serve::device_name(serve::Device::cuda);
  for (const bool graph : {false, true}) {
    const auto engine = make_engine(model, options, serve::Device::cuda, graph);
    const char* const steps = graph ? "from graphs" : "launched";
    alone(*engine, device, steps);
    batched(*engine, device, steps, usual);
    if (job.requests.size() > usual) batched(*engine, device, steps, job.requests.size());
  }
  const bool equal = serve::print_comparison(stdout, runs, label(options), model.config.vocabulary);
  return options.kernels == "variant" || equal ? 0 : 1;
}

int run(const serve::Options& options, const std::filesystem::path& program) {
  const serve::Device device = options.device == "cpu" ? serve::Device::cpu : serve::Device::cuda;
  serve::require_device(device);
  serve::require_self_check(device);
  if (options.device == "both") serve::require_self_check(serve::Device::cpu);
  const Model model(options.model.empty() ? serve::fetch_default_model(program.parent_path() / "fetch_model")
                                          : std::filesystem::path(options.model));
  print_model(model.config, options);
  const auto questions = options.prompts.empty() ? serve::built_in_prompts() : serve::read_prompts(options.prompts);
  const auto prompts = serve::make_prompts(model.chat, questions, options.max_tokens, model.config.context);
  serve::Random random(options.seed);
  const std::vector<serve::Request> requests = serve::make_requests(prompts, options.requests, random);
  const serve::Job job{requests,
                       prompts.size(),
                       {options.max_tokens, options.max_batch, options.chunk, options.page_size},
                       [&](serve::Token token) { return model.tokenizer.ends_answer(token); },
                       random};
  return options.device == "both" ? compare_devices(model, options, job)
                                  : serve_on(device, model, options, questions, job);
}

}  // namespace

int main(int argc, char** argv) {
  int exit_code = 0;
  const auto options = serve::parse_options(argc, argv, exit_code);
  if (!options) return exit_code;
  try {
    if (const std::string missing = serve::missing_for_start(); !missing.empty()) throw std::runtime_error(missing);
    Kokkos::InitializationSettings settings;
    if (options->threads > 0) settings.set_num_threads(options->threads);
    settings.set_disable_warnings(true);
    Kokkos::ScopeGuard kokkos(settings);
    std::error_code ignored;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored);
    return run(*options, program.empty() ? std::filesystem::path(argv[0]) : program);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "serve: %s\n", error.what());
    return 1;
  }
}
