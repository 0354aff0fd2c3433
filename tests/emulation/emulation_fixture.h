// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "generator/emulate/compile_program.h"
#include "generator/emulate/device.h"

namespace esc::testing {

/// Launches in one line, as `launch(kernel, grid, block, shared bytes, arguments...)`.
inline const VirtualHeader kLaunchHeader = {"launch.h", R"(
#include <cuda_runtime.h>
template <class... P, class... A>
static cudaError_t launch(void (*kernel)(P...), dim3 grid, dim3 block, size_t shared, A... arguments) {
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared;
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}
)"};

/// Compiles a text that begins at line 1 of "kernel.cu"; <launch.h> is included before it.
inline HostProgram compile(const std::string& text) {
  ProgramOptions options;
  options.headers.push_back(kLaunchHeader);
  return compile_cuda("#include <launch.h>\n#line 1\n" + text, "kernel.cu", options);
}

/// A device with an input `x`, counting 0, 1, 2, ..., and an output `y`, poisoned; and one text that works on them
/// through `extern "C" cudaError_t run(const float* x, float* y, int n)`.
class Emulation {
 public:
  explicit Emulation(const std::string& text, std::size_t inputs = 64, std::size_t outputs = 64,
                     EmulationOptions options = {})
      : program(compile(text)), device(std::move(options)), x(floats("x", inputs, BufferUse::input())) {
    for (std::size_t index = 0; index < inputs; ++index) {
      x[index] = static_cast<float>(index);
    }
    y = floats("y", outputs, BufferUse::output());
  }

  std::optional<int> run(int n = 64) { return device.call<int(const float*, float*, int)>(program, "run", x, y, n); }

  /// Runs and gives the one fault that is expected.
  EmulationFault only_fault(int n = 64) {
    run(n);
    EXPECT_EQ(device.faults().size(), 1u) << device.describe_faults();
    return device.faults().empty() ? EmulationFault{} : device.faults().front();
  }

  std::vector<float> result(std::size_t count) const { return {y, y + count}; }

  HostProgram program;
  EmulatedDevice device;
  float* x = nullptr;
  float* y = nullptr;

 private:
  float* floats(const char* name, std::size_t count, BufferUse use) {
    return reinterpret_cast<float*>(device.allocate(name, count * sizeof(float), use).data());
  }
};

}  // namespace esc::testing
