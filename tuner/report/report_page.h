// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tuner/records/item_results.h"
#include "tuner/report/item_summary.h"
#include "tuner/report/nights.h"

namespace esc::tuning {

/// What a page says beside its items, each where it is given.
struct ReportFrame {
  std::string date = {};  ///< as the reader is to see it
  std::string host = {};
  std::vector<Night> nights = {};         ///< those before, the oldest first
  std::vector<ItemSummary> against = {};  ///< older records
};

/// One self-contained HTML page about all items: speed, wins and bytes in three figures first, then layers and totals,
/// results in tables and pictures, each picture with its numbers; what has changed, failures and what was measured
/// with. No script, nothing loaded from elsewhere; the same items and the same frame give the same bytes.
std::string report_page(const std::map<ItemKey, ItemResults>& items, const ReportFrame& frame = {});

}  // namespace esc::tuning
