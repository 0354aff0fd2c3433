// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tuner/report/item_summary.h"

namespace esc::tuning {

/// Winners whose times differ by no more than this, relatively, are as good as each other whatever the noise was.
constexpr double tolerated_change = 0.02;

/// One item in two journals.
struct ItemChange {
  ItemSummary before;
  ItemSummary after;
  double ratio = 1;  ///< time of the new winner over that of the old one; 1 where one of them has none
  double noise = 0;  ///< the larger one of the two winners' relative spreads
  bool same_winner = false;
  Verdict verdict = Verdict::same;
};

/// Two journals, item by item.
struct JournalComparison {
  std::vector<ItemChange> changes;       ///< of the items that both have
  std::vector<std::string> only_before;  ///< labels
  std::vector<std::string> only_after;

  std::size_t count(Verdict verdict) const;
  /// The share of the common items that have the same winner or are SAME; absent where there are none.
  std::optional<double> agreement() const;
};

/// How the new winner of an item compares with the old one:
///
///   within 2 % of each other                      SAME
///   within noise, and the same schedule           SAME
///   within noise, and another schedule            UNSURE
///   beyond both                                   BETTER or WORSE
///
/// An item that had a right kernel and has none any more is WORSE, the other way round BETTER; without one in either,
/// SAME.
ItemChange compare_items(const ItemSummary& before, const ItemSummary& after);

/// The changes from one journal to the other, in the order of `after`.
JournalComparison compare_journals(const std::vector<ItemSummary>& before, const std::vector<ItemSummary>& after);

}  // namespace esc::tuning
