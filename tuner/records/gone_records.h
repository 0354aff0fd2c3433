// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "tuner/records/record.h"

namespace esc::tuning {

/// How many records are of schedules that are gone for the element type of their item (esc::is_gone); a decision is
/// where its winner is.
std::size_t count_gone(const std::vector<Record>& records);

/// The others: what is chosen, published or replayed is chosen from them.
std::vector<Record> without_gone(std::vector<Record> records);

}  // namespace esc::tuning
