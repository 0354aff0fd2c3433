// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "generator/emulate/registered_buffer.h"
#include "generator/ir/loop_nest.h"
#include "generator/verify/c_call.h"
#include "generator/verify/operands.h"
#include "generator/verify/placed_matrix.h"

namespace esc {

/// What the epilogue of a kernel reads, each operand in memory of its own, and registered for a device.
class PlacedOperands {
 public:
  /// As draw_operands draws them for `rows` rows and the values of the call; none without a nest. A matrix has a gap
  /// that is one element longer than C's.
  PlacedOperands(const LoopNest* nest, std::int64_t rows, const KernelCall& call, const Dispatch& dispatch);

  /// They stay registered as long as this is there.
  void show_to(EmulatedDevice& device);

  /// As the kernel's C function takes them.
  const std::vector<CArgument>& arguments() const { return arguments_; }

 private:
  struct Placed {
    std::string name;
    std::unique_ptr<PlacedMatrix> matrix;
  };

  void add(const Operand& operand, const KernelCall& call, const Dispatch& dispatch);

  std::vector<CArgument> arguments_;
  std::vector<Placed> placed_;
  std::list<RegisteredBuffer> registered_;
};

}  // namespace esc
