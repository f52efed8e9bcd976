// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "options.hpp"

#include <CLI/CLI.hpp>

namespace serve {

std::optional<Options> parse_options(int argc, const char* const* argv, int& exit_code) {
  Options options;
  CLI::App app(
      "Answers many questions at once with a language model and shows that every answer has the bits it has alone.\n"
      "Requests arrive at random times, share batches of changing size and are decoded greedily.");
  app.option_defaults()->always_capture_default();
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.add_option("MODEL", options.model,
                 "GGUF file of the llama architecture; without it SmolLM2-135M-Instruct, fetched once into the cache")
      ->check(CLI::ExistingFile)
      ->capture_default_str();
  app.add_option("--device", options.device, "Where to compute; both: on each, comparing all logits token by token")
      ->check(CLI::IsMember({"cpu", "cuda", "both"}));
  app.add_option("--graph", options.graph, "On a GPU: record a decode step once in a CUDA graph and replay it")
      ->check(CLI::IsMember({"on", "off"}));
  app.add_option("--kernels", options.kernels,
                 "invariant: Invar's; variant: the sums are split by batch size, as ordinary libraries do")
      ->check(CLI::IsMember({"invariant", "variant"}));
  app.add_option("--precision", options.precision,
                 "What weights, activations and the KV cache are kept in; bf16 rounds each result to it, as servers do")
      ->check(CLI::IsMember({"f32", "bf16"}));
  app.add_option("--requests", options.requests, "Number of requests")->check(CLI::Range(1, 100000));
  app.add_option("--prompts", options.prompts, "File with one prompt per line; without it six built-in ones")
      ->check(CLI::ExistingFile);
  app.add_option("--max-tokens", options.max_tokens, "Tokens in one answer at most")->check(CLI::Range(1, 1000000));
  app.add_option("--max-batch", options.max_batch, "Requests in one batch at most")->check(CLI::Range(1, 4096));
  app.add_option("--chunk", options.chunk, "Prompt tokens of one request in one step at most; the size varies below it")
      ->check(CLI::Range(1, 65536));
  app.add_option("--page-size", options.page_size, "Positions in one page of the KV cache")->check(CLI::Range(1, 1024));
  app.add_option("--seed", options.seed, "Seed of prompts, arrival times and chunk sizes");
  app.add_option("--threads", options.threads, "Threads; 0 for all")->check(CLI::Range(0, 4096));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    exit_code = app.exit(error);
    return std::nullopt;
  }
  return options;
}

}  // namespace serve
