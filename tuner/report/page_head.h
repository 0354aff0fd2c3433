// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tuner/report/group_summary.h"

namespace esc::tuning {

/// What a page of measurements begins with: for how many products ours is the fastest, how many times as fast as the
/// best exact library it is, and the packed bytes beside dense ones. `devices` are names such as "NVIDIA H200".
std::string page_head(const std::vector<ItemSummary>& items, const std::vector<std::string>& devices);

/// Packed bytes beside those of the dense weights: a bar for all winners with each N, and folded away one for each
/// layer. Empty where no size is known.
std::string bytes_section(const std::vector<GroupSummary>& groups);

}  // namespace esc::tuning
