// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "tuner/publish/loss_table.h"

namespace esc::tuning {

/// The default entry of a bCol: the schedule with the least mean loss over all items of its table whose rows follow no
/// power law, each with the same weight, among those that were right on at least half of them; where there is none, on
/// at least one. Absent where there are no such items.
std::optional<DefaultEntry> single_schedule(const LossTable& table, long long bcol);

}  // namespace esc::tuning
