// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Serves a language model to many requests at once, and shows that each gets the bits it gets alone.

#include "chat.hpp"
#include "default_model.hpp"
#include "engine.hpp"
#include "gguf.hpp"
#include "model_config.hpp"
#include "options.hpp"
#include "prompts.hpp"
#include "report.hpp"
#include "scheduler.hpp"
#include "tokenizer.hpp"
#include "workload.hpp"

#include <Kokkos_Core.hpp>
#include <invar/verify/self_check.hpp>

#include <unistd.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

namespace {

/// A line on a terminal that is written over; nothing elsewhere.
void show_progress(const char* what, std::size_t done, std::size_t all) {
  if (!isatty(STDERR_FILENO)) return;
  std::fprintf(stderr, "\r%s: %zu of %zu%s", what, done, all, done == all ? "\n" : "");
  std::fflush(stderr);
}

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

void print_model(const serve::ModelConfig& config, const serve::Options& options) {
  std::printf("%s: %zu layers, width %zu, %zu heads of %zu (%zu for keys and values), vocabulary %zu, %s\n",
              serve::gguf::printable(config.name).c_str(), config.layers, config.embedding, config.heads,
              config.head_size, config.kv_heads, config.vocabulary, options.precision.c_str());
}

/// The first request of each prompt, answered alone.
std::vector<std::optional<serve::Completion>> answer_alone(serve::Engine& engine, std::size_t prompts,
                                                           const std::vector<serve::Request>& requests,
                                                           std::size_t max_tokens,
                                                           const std::function<bool(serve::Token)>& ends_answer,
                                                           serve::RunStatistics& statistics) {
  std::vector<std::optional<serve::Completion>> by_prompt(prompts);
  std::size_t done = 0;
  for (const serve::Request& request : requests) {
    std::optional<serve::Completion>& completion = by_prompt[request.prompt];
    if (!completion) completion = serve::serve_alone(engine, request, max_tokens, ends_answer, statistics);
    show_progress("requests answered alone", ++done, requests.size());
  }
  return by_prompt;
}

int run(const serve::Options& options, const std::filesystem::path& program) {
  const Model model(options.model.empty() ? serve::fetch_default_model(program.parent_path() / "fetch_model")
                                          : std::filesystem::path(options.model));
  print_model(model.config, options);
  const auto questions = options.prompts.empty() ? serve::built_in_prompts() : serve::read_prompts(options.prompts);
  const auto prompts = serve::make_prompts(model.chat, questions, options.max_tokens, model.config.context);
  const bool variant = options.kernels == "variant";

  invar::self_check(Kokkos::DefaultHostExecutionSpace()).require();
  const auto engine = serve::make_engine(model.file, model.config, model.tensors,
                                         variant ? serve::KernelKind::variant : serve::KernelKind::invariant,
                                         options.precision == "bf16" ? serve::Precision::bf16 : serve::Precision::f32);
  const auto ends_answer = [&](serve::Token token) { return model.tokenizer.ends_answer(token); };
  serve::Random random(options.seed);
  const std::vector<serve::Request> requests = serve::make_requests(prompts, options.requests, random);

  serve::RunStatistics in_batch, alone;
  const std::vector<serve::Completion> batched = serve::serve_all(
      *engine, requests, {options.max_tokens, options.max_batch, options.chunk, options.page_size}, ends_answer, random,
      in_batch, [&](std::size_t done) { show_progress("requests answered in the batch", done, requests.size()); });
  const auto by_prompt = answer_alone(*engine, prompts.size(), requests, options.max_tokens, ends_answer, alone);

  const serve::Outcome outcome{questions, requests, batched, by_prompt};
  serve::print_report(stdout, outcome, model.tokenizer, options.kernels + " " + options.precision, in_batch, alone);
  // The variant kernels are here to be seen to differ.
  return variant || serve::equal_digests(outcome) == requests.size() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  int exit_code = 0;
  const auto options = serve::parse_options(argc, argv, exit_code);
  if (!options) return exit_code;
  try {
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
