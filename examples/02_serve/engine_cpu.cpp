// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "engines.hpp"
#include "llama_engine.hpp"

namespace serve {

std::unique_ptr<Engine> make_cpu_engine(const gguf::File& file, const ModelConfig& config, const ModelTensors& tensors,
                                        const EngineOptions& options) {
  const HostExec exec;
  return options.precision == Precision::bf16
             ? make_llama_engine<HostExec, invar::bfloat16_t>(exec, file, config, tensors, options)
             : make_llama_engine<HostExec, float>(exec, file, config, tensors, options);
}

}  // namespace serve
