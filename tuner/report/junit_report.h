// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tuner/report/compare_items.h"
#include "tuner/report/item_summary.h"

namespace esc::tuning {

/// The items as test cases in JUnit's XML: one fails where no kernel was right. Its time is the winner's.
std::string junit_report(const std::vector<ItemSummary>& items);

/// The changes from one journal to another: an item fails where it is WORSE, and one that only the older journal has is
/// skipped.
std::string junit_report(const JournalComparison& comparison);

}  // namespace esc::tuning
