// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "generator/confine/allowance.h"
#include "generator/verify/verify.h"

namespace esc {

/// What a text may use up beside what its work needs, of so many steps that touch so many bytes: time on a machine that
/// is slow and busy, and the emulator's notes on each element.
Allowance allowance_for(const EmulationEffort& effort, std::uint64_t steps, std::int64_t bytes);

}  // namespace esc
