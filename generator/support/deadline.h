// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>

namespace esc {

/// Whoever waits for longer is told so. Steady: does not follow the machine's clock when that is set.
using Deadline = std::chrono::steady_clock::time_point;

/// False without a deadline.
bool has_passed(const std::optional<Deadline>& deadline);

/// Milliseconds that poll(2) may wait at a time, rounded up so that it does not return early again and again; -1: for
/// ever.
int time_to_poll(const std::optional<Deadline>& deadline);

}  // namespace esc
