// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "tuner/records/item_results.h"

namespace esc::tuning {

/// One self-contained HTML page about all items: results in tables and pictures, each picture with its numbers; losses,
/// failures and what was measured with. No script, nothing loaded from elsewhere; the same items give the same bytes.
std::string report_page(const std::map<ItemKey, ItemResults>& items);

}  // namespace esc::tuning
