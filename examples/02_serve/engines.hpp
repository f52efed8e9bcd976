// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The engines that make_engine() chooses from. Each is a source of its own: for a GPU they take long to compile.
#ifndef SERVE_ENGINES_HPP
#define SERVE_ENGINES_HPP

#include "engine.hpp"

namespace serve {

std::unique_ptr<Engine> make_cpu_engine(const gguf::File& file, const ModelConfig& config, const ModelTensors& tensors,
                                        const EngineOptions& options);

// In a build with CUDA.
std::unique_ptr<Engine> make_cuda_engine_f32(const gguf::File& file, const ModelConfig& config,
                                             const ModelTensors& tensors, const EngineOptions& options);
std::unique_ptr<Engine> make_cuda_engine_bf16(const gguf::File& file, const ModelConfig& config,
                                              const ModelTensors& tensors, const EngineOptions& options);

}  // namespace serve

#endif
