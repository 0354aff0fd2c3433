// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tuner/report/item_summary.h"

namespace esc::tuning {

/// Whether a shell pattern (*, ?, [...]) fits an item's label NAME@BCOL, its name or its file. A * also stands for
/// slashes. A name that is written as it is fits too, whatever is in it.
bool fits(const ItemSummary& item, const std::string& pattern);

/// The items that the pattern fits. Throws UserError when there is none.
std::vector<ItemSummary> pick(const std::vector<ItemSummary>& items, const std::string& pattern);

}  // namespace esc::tuning
