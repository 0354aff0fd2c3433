// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <list>
#include <vector>

#include "generator/ir/loop_nest.h"
#include "generator/verify/c_call.h"
#include "generator/verify/cuda_runtime.h"
#include "generator/verify/predecessor.h"

namespace esc {

/// What the epilogue of a kernel reads, on a GPU: drawn as draw_operands says, matrices without gaps between their
/// rows. It is there when the predecessor has written it.
class DeviceOperands {
 public:
  /// For `rows` rows and `n` columns of C, drawn from these values.
  DeviceOperands(const CudaRuntime& runtime, const LoopNest& nest, std::int64_t rows, std::int64_t n,
                 const ValueDraw& values, LateWrites& writes);

  /// As the kernel's C function takes them; they point into this.
  const std::vector<CArgument>& arguments() const { return arguments_; }

 private:
  std::list<DeviceBuffer> buffers_;
  std::vector<CArgument> arguments_;
};

}  // namespace esc
