// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "engine.hpp"

#include "device.hpp"
#include "engines.hpp"

#include <Kokkos_Core.hpp>

namespace serve {

std::unique_ptr<Engine> make_engine(const gguf::File& file, const ModelConfig& config, const ModelTensors& tensors,
                                    const EngineOptions& options) {
  require_device(options.device);
#ifdef KOKKOS_ENABLE_CUDA
  if (options.device == Device::cuda)
    return options.precision == Precision::bf16 ? make_cuda_engine_bf16(file, config, tensors, options)
                                                : make_cuda_engine_f32(file, config, tensors, options);
#endif
  return make_cpu_engine(file, config, tensors, options);
}

}  // namespace serve
