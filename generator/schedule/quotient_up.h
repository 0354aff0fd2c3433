// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace esc {

/// How many of `divisor` each it takes for `value`; neither is negative.
constexpr std::int64_t quotient_up(std::int64_t value, std::int64_t divisor) { return (value + divisor - 1) / divisor; }

}  // namespace esc
