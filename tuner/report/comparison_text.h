// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "generator/report/table.h"
#include "tuner/report/compare_items.h"

namespace esc::tuning {

/// A row per item that both have.
Table change_table(const JournalComparison& comparison);

/// The comparison as Markdown: a row per common item, how many came to which verdict, the items that only one of them
/// has.
std::string print(const JournalComparison& comparison);

/// The same as JSON.
std::string to_json(const JournalComparison& comparison);

}  // namespace esc::tuning
