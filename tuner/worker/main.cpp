// SPDX-License-Identifier: Apache-2.0
// The process of esctune that has to do with CUDA: builds kernels with NVRTC, or measures them on a GPU, as its
// argument says. It is started by esctune, answers questions over a socket, and may be killed at any moment.

#include <fmt/format.h>

#include <exception>
#include <string>

#include "generator/support/error.h"
#include "generator/support/plain_text.h"
#include "generator/support/standard_streams.h"
#include "tuner/build/build_pool.h"
#include "tuner/device/device_protocol.h"
#include "tuner/gpu/rtc_build.h"
#include "tuner/process/worker_process.h"
#include "tuner/worker/gpu_device.h"

namespace {

esc::ExitStatus run(const std::string& task) {
  using namespace esc;
  if (task == "version") {
    fmt::print("nvrtc {}\n{}\n", gpu::rtc_version(), gpu::rtc_setup());
    return ExitStatus::done;
  }
  if (task == "build") {
    tuning::end_with_parent();
    tuning::serve_builds(tuning::worker_socket, gpu::build);
    return ExitStatus::done;
  }
  if (task == "measure") {
    tuning::end_with_parent();
    try {
      tuning::GpuDevice device;
      tuning::serve_measurements(tuning::worker_socket, device);
      return ExitStatus::done;
    } catch (const UserError& problem) {
      tuning::serve_refusal(tuning::worker_socket, problem.what());
      return problem.status();
    }
  }
  throw UserError("esctune-worker", "is started by esctune alone", "run esctune");
}

}  // namespace

int main(int argc, char** argv) {
  esc::open_missing_standard_streams();
  try {
    return static_cast<int>(run(argc == 2 ? argv[1] : ""));
  } catch (const esc::UserError& problem) {
    esc::write_to_standard_error(fmt::format("esctune: {}\n", esc::plain_lines(problem.what())));
    return static_cast<int>(problem.status());
  } catch (const std::exception& problem) {
    esc::write_to_standard_error(fmt::format("esctune: {}\n", esc::plain_lines(problem.what())));
    return static_cast<int>(esc::ExitStatus::missing_tool);
  }
}
