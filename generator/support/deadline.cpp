// SPDX-License-Identifier: Apache-2.0
#include "generator/support/deadline.h"

#include <algorithm>

namespace esc {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

bool has_passed(const std::optional<Deadline>& deadline) { return deadline && steady_clock::now() >= *deadline; }

int time_to_poll(const std::optional<Deadline>& deadline) {
  if (!deadline) {
    return -1;
  }
  constexpr milliseconds longest(60'000);
  const auto left = std::chrono::ceil<milliseconds>(*deadline - steady_clock::now());
  return static_cast<int>(std::clamp(left, milliseconds(0), longest).count());
}

}  // namespace esc
