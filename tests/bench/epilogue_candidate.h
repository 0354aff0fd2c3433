// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "generator/emit/launch_plan.h"
#include "generator/ir/loop_nest.h"
#include "generator/support/error.h"
#include "tests/bench/activations.h"
#include "tuner/build/build_pool.h"

namespace esc::bench {

/// A kernel of ours, ready for the device.
struct Kernel {
  std::shared_ptr<const std::byte[]> packed = {};
  std::size_t packed_bytes = 0;
  LaunchPlan plan = {};
  tuning::Cubin cubin = {};
};

/// A layer in rows of columns, with and without its epilogue by the same schedule, and as PyTorch has it.
struct Candidate {
  std::string matrix;
  std::int64_t bcol = 0;
  std::string schedule = {};
  Kernel layer = {};
  Kernel product = {};
  std::string nk_schedule = {};
  Kernel nk_layer = {};
  std::string problem = {};              ///< why there are none
  ExitStatus status = ExitStatus::done;  ///< that of the program for it
};

/// C = relu(A x B + bias).
LoopNest layer_nest(Activations activations);

/// Reads the matrix of the file, generates its kernels and builds them. What goes wrong is in the result. Safe to call
/// in parallel.
Candidate prepare(const std::string& file, std::int64_t bcol, int architecture, tuning::BuildPool& pool);

}  // namespace esc::bench
