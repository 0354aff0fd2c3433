// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "generator/report/table.h"
#include "tuner/space/item_cost.h"

namespace esc::tuning {

/// What takes the time of a launch by the cost model: a row for each part.
Table cost_table(const Cost& cost);

/// The largest part: "the launch floor", "loads that wait for each other", "the bandwidth of the L2 cache", "the
/// load/store unit", "arithmetic" or "reduction".
std::string binding_limit(const Cost& cost);

}  // namespace esc::tuning
