// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "generator/emulate/device.h"
#include "generator/emulate/host_program.h"
#include "generator/ir/loop_nest.h"
#include "generator/verify/c_call.h"
#include "generator/verify/kernel_calls.h"

namespace esc {

/// The kernel of a bundle for the emulated grid, with the matrix that it multiplies by. Refers to what it is made of.
struct KernelToEmulate {
  const HostProgram& program;  ///< the .cu text, compiled
  const std::string& name;
  std::span<const std::byte> packed;
  std::int64_t rows = 0;
  Dispatch dispatch = {};
  const LoopNest* input = nullptr;  ///< the nest, whose epilogue may read more than B
};

/// Calls the kernel's C function on the device; its status, absent where a fault has stopped it.
std::optional<int> call_spmm(EmulatedDevice& device, const KernelToEmulate& kernel, const ProductArguments& arguments);

/// The same of NAME_unpack or NAME_values. Throws UserError where the text has none.
std::optional<int> call_unpack(EmulatedDevice& device, const KernelToEmulate& kernel, UnpackFunction function,
                               const UnpackArguments& given);

/// Appends the faults of the device so far.
void take_faults(const EmulatedDevice& device, std::vector<std::string>& problems);

}  // namespace esc
