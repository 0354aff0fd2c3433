// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "generator/ir/loop_nest.h"
#include "tests/support/awkward_shapes.h"
#include "tests/support/schedule_part.h"

namespace esc::tests {

/// Kernels of many schedules, emulated one after the other on shapes that take turns. Failures are GoogleTest's.
class EmulatedSweep {
 public:
  /// `part` of several sweeps that are run beside each other: each begins with another shape and another product.
  /// `nest` gives the product of elements of a type.
  EmulatedSweep(std::vector<NamedMatrix> shapes, std::size_t part, LoopNest (*nest)(ScalarType) = spmm_nest);

  /// Runs the kernel on the shape that has waited longest, of those for which the schedule is legal: the product that
  /// it is made for and another one; for every fourth kernel the transformer as well.
  void check(const ScheduleFor& one);
  /// The same where there is such a shape: blocks may need more shared memory than any leaves them.
  void check_if_legal(const ScheduleFor& one);

  int kernels() const { return kernels_; }
  /// "128 kernels on 13 shapes, at worst 0.30 of the tolerance".
  std::string summary() const;

 private:
  /// Whether there is a shape for which it is legal.
  bool checks(const ScheduleFor& one);

  LoopNest (*nest_)(ScalarType);
  std::vector<NamedMatrix> turns_;  ///< the shape that has waited longest first
  std::size_t next_product_ = 0;
  int kernels_ = 0;
  double worst_share_ = 0;
};

/// The kernel of a matrix of so many columns without a non-zero, for 33 columns of B, sets C to zero, and the
/// transformer writes its packed matrix. Failures are GoogleTest's.
void check_without_nonzeros(std::int64_t columns, const Schedule& schedule, ScalarType element = ScalarType::f32);

}  // namespace esc::tests
