// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "generator/emulate/host_program.h"
#include "generator/emulate/registers.h"

namespace esc {

/// A launch that has passed its checks.
struct Launch {
  const ProgramKernel* kernel = nullptr;
  Dim3 grid;
  Dim3 block;
  std::uint64_t dynamic_shared = 0;
  bool programmatic = false;  ///< may begin before the kernel before has ended
  void (*enter)(const void* kernel, void** arguments) = nullptr;
  void** arguments = nullptr;
};

}  // namespace esc
