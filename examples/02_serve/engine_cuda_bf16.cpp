// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "engines.hpp"
#include "llama_engine.hpp"

namespace serve {

std::unique_ptr<Engine> make_cuda_engine_bf16(const gguf::File& file, const ModelConfig& config,
                                              const ModelTensors& tensors, const EngineOptions& options) {
  // An instance with a stream of its own, so that what is recorded there is the step and nothing else.
  const Kokkos::Cuda exec = Kokkos::Experimental::partition_space(Kokkos::Cuda(), 1)[0];
  return make_llama_engine<Kokkos::Cuda, invar::bfloat16_t>(exec, file, config, tensors, options);
}

}  // namespace serve
