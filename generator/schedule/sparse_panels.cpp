// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/sparse_panels.h"

namespace esc {
namespace {

/// 4096 x 4096 and 11,008 x 4096 at 95 % zeros with 128 columns, with 152 schedules of the family.
bool is_measured(const LayerShape& shape) {
  constexpr double smallest = 4096.0 * 4096;
  constexpr double sparsest = 0.03;
  constexpr double densest = 0.09;
  constexpr long long columns = 128;
  return shape.dtype == "f32" && shape.layout == "kn" && shape.bcol >= columns && shape.bcol < 2 * columns && shape.elements() >= smallest && shape.density() >= sparsest &&
         shape.density() < densest && !follows_power_law(shape);
}

}  // namespace

std::vector<ScheduleChoice> sparse_panels(const LayerShape& shape, const KernelTarget& target) {
  constexpr int measured_architecture = 90;
  if (!is_measured(shape) || target.oldest_architecture < measured_architecture) {
    return {};
  }
  return {{PanelSchedule{.ufi = 1, .columns = 128, .vector = 4, .groups = 1, .warps = 1, .panels = 4, .ufk = 4, .stage = false}, "by rule: large layers of few non-zeros; measured on one NVIDIA H200"}};
}

}  // namespace esc
