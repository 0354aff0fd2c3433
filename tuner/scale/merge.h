// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tuner/records/device_rates.h"
#include "tuner/records/record.h"

namespace esc::tuning {

/// The union of some journals.
struct Merged {
  std::string text;  ///< a journal: the distinct records, one a line, in a fixed order; empty where there are none
  std::size_t records = 0;
  std::vector<std::string>
      conflicts;  ///< records of the same candidate that contradict each other, in words; all are kept
  std::vector<std::string> environments;  ///< devices, drivers and toolkits with the same key that differ, in words
};

/// Unites records. Pure: merge(merge(a), b) = merge(a, b) = merge(b, a). Rates of devices come first; the order of the
/// others is that of the items' keys, then stage, edge, candidate and text. Two records of one candidate, item, stage,
/// edge, builder and kernel digest conflict where their outcomes differ or their medians by more than 10 %.
Merged merge(const std::vector<Record>& records, const std::vector<RatesRecord>& rates = {});

}  // namespace esc::tuning
