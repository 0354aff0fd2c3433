// SPDX-License-Identifier: Apache-2.0
#include "tests/device/gpu_machine.h"

#include "generator/support/error.h"
#include "generator/verify/cuda_runtime.h"
#include "generator/verify/nvcc.h"

namespace esc::tests {

std::string missing_for_gpu_tests() {
  if (find_nvcc().empty()) {
    return "nvcc is not on this machine";
  }
  try {
    CudaRuntime::expect_device();
  } catch (const UserError& missing) {
    return missing.what();
  }
  return {};
}

}  // namespace esc::tests
