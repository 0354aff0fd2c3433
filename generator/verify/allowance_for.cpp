// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/allowance_for.h"

namespace esc {

Allowance allowance_for(const EmulationEffort& effort, std::uint64_t steps, std::int64_t bytes) {
  constexpr std::uint64_t steps_of_a_millisecond = 100;
  return {.time = effort.patience + std::chrono::milliseconds(steps / steps_of_a_millisecond),
          .memory = effort.memory + 8 * static_cast<std::uint64_t>(bytes)};
}

}  // namespace esc
