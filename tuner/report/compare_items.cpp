// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/compare_items.h"

#include <algorithm>

#include "generator/support/means.h"

namespace esc::tuning {
namespace {

Verdict judge(const ItemChange& change) {
  const bool had = change.before.microseconds.has_value();
  const bool has = change.after.microseconds.has_value();
  if (!had || !has) {
    return had == has ? Verdict::same : has ? Verdict::better : Verdict::worse;
  }
  const double difference = std::max(change.ratio, 1 / change.ratio) - 1;
  if (difference <= tolerated_change) {
    return Verdict::same;
  }
  if (difference <= change.noise) {
    return change.same_winner ? Verdict::same : Verdict::unsure;
  }
  return change.ratio < 1 ? Verdict::better : Verdict::worse;
}

}  // namespace

std::size_t JournalComparison::count(Verdict verdict) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(changes, [&](const ItemChange& change) { return change.verdict == verdict; }));
}

std::optional<double> JournalComparison::agreement() const {
  const auto agreed = std::ranges::count_if(
      changes, [](const ItemChange& change) { return change.same_winner || change.verdict == Verdict::same; });
  return share_of(static_cast<std::size_t>(agreed), changes.size());
}

ItemChange compare_items(const ItemSummary& before, const ItemSummary& after) {
  ItemChange change{.before = before, .after = after};
  change.same_winner = before.winner == after.winner;
  change.noise = std::max(before.spread, after.spread);
  if (before.microseconds && after.microseconds) {
    change.ratio = *after.microseconds / *before.microseconds;
  }
  change.verdict = judge(change);
  return change;
}

JournalComparison compare_journals(const std::vector<ItemSummary>& before, const std::vector<ItemSummary>& after) {
  std::map<ItemKey, const ItemSummary*> old_items;
  for (const ItemSummary& item : before) {
    old_items[key_of(item.item)] = &item;
  }
  JournalComparison comparison;
  for (const ItemSummary& item : after) {
    const auto found = old_items.find(key_of(item.item));
    if (found == old_items.end()) {
      comparison.only_after.push_back(label(item));
      continue;
    }
    comparison.changes.push_back(compare_items(*found->second, item));
    old_items.erase(found);
  }
  for (const auto& [key, item] : old_items) {
    comparison.only_before.push_back(label(*item));
  }
  std::ranges::sort(comparison.only_before);
  return comparison;
}

}  // namespace esc::tuning
