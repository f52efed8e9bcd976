// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The devices that this program can compute on.
#ifndef SERVE_DEVICE_HPP
#define SERVE_DEVICE_HPP

#include "engine.hpp"

#include <string>

namespace serve {

/// Throws std::runtime_error, saying what is missing, where this program cannot compute on a device.
void require_device(Device device);

/// Why Kokkos cannot be initialized here; empty where it can. A program with CUDA does not start without a GPU.
std::string missing_for_start();

/// What a device is, in words. Kokkos must be initialized.
std::string device_name(Device device);

/// Throws std::runtime_error where a device does not round as Invar's contracts say.
void require_self_check(Device device);

}  // namespace serve

#endif
