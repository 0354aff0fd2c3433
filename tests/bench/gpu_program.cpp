// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/gpu_program.h"

#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "tuner/gpu/device.h"

namespace esc::bench {

int run_gpu_program(const std::string& name, const std::function<ExitStatus()>& run) {
  try {
    return static_cast<int>(run());
  } catch (const UserError& problem) {
    fmt::print(stderr, "{}: {}\n", name, problem.what());
    return static_cast<int>(problem.status());
  } catch (const gpu::DeviceError& problem) {
    fmt::print(stderr, "{}: the device cannot be used: {}\n", name, problem.what());
    return static_cast<int>(ExitStatus::missing_tool);
  } catch (const std::exception& problem) {
    fmt::print(stderr, "{}: a defect of this program: {}\n", name, problem.what());
    return static_cast<int>(ExitStatus::defect);
  }
}

}  // namespace esc::bench
