// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "generator/verify/kernel_to_emulate.h"

namespace esc {

/// Makes calls that the C interface forbids, each argument wrong alone, and says which are not refused as it promises,
/// or launch or write something all the same. `columns` are A's; a call may make `host_steps` trips around loops.
std::vector<std::string> emulate_refusals(const KernelToEmulate& kernel, ScalarType element, std::int64_t columns,
                                          bool has_kernel, std::int64_t host_steps);

/// Prepares the kernel and makes the calls, nothing of whose launches runs, on devices where one of the CUDA functions
/// that may fail fails, each in turn, and says where that error is not returned at once. Says also whether all kernels
/// are asked for when they are prepared.
std::vector<std::string> emulate_failures(const KernelToEmulate& kernel, ScalarType element, std::int64_t columns,
                                          const std::vector<KernelCall>& calls, std::int64_t host_steps);

}  // namespace esc
