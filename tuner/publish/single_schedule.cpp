// SPDX-License-Identifier: Apache-2.0
#include "tuner/publish/single_schedule.h"

#include <algorithm>
#include <cmath>

#include "generator/support/means.h"

namespace esc::tuning {
namespace {

using Items = std::vector<const ItemLosses*>;

Items items_meant(const LossTable& table) {
  Items items;
  for (const auto& item : table.items) {
    if (!follows_power_law(item->shape)) {
      items.push_back(item.get());
    }
  }
  return items;
}

/// The schedule with the least sum of losses of those that were right on `least` of the items.
std::optional<std::size_t> best_of(const Items& items, std::size_t schedules, std::ptrdiff_t least) {
  std::optional<std::size_t> best;
  double best_loss = 0;
  for (std::size_t schedule = 0; schedule < schedules; ++schedule) {
    double loss = 0;
    for (const ItemLosses* item : items) {
      loss += item->estimate(schedule);
    }
    const auto right =
        std::ranges::count_if(items, [&](const ItemLosses* item) { return item->losses[schedule].loss.has_value(); });
    if (right >= least && (!best || loss < best_loss)) {
      best = schedule;
      best_loss = loss;
    }
  }
  return best;
}

/// What the items say of a schedule: those on which it was right.
ScheduleEvidence evidence_of(const Items& items, std::size_t schedule) {
  std::vector<double> losses;
  std::vector<double> over_exact;
  std::vector<double> over_tf32;
  for (const ItemLosses* item : items) {
    if (const std::optional<double>& loss = item->losses[schedule].loss) {
      losses.push_back(std::exp(*loss));
      const double microseconds = item->best_microseconds * losses.back();
      if (item->exact_microseconds) {
        over_exact.push_back(*item->exact_microseconds / microseconds);
      }
      if (item->tf32_microseconds) {
        over_tf32.push_back(*item->tf32_microseconds / microseconds);
      }
    }
  }
  return {.matrices = static_cast<int>(losses.size()),
          .loss = geometric_mean(losses),
          .worst = losses.empty() ? std::nullopt : std::optional(std::ranges::max(losses)),
          .over_exact = geometric_mean(over_exact),
          .over_tf32 = geometric_mean(over_tf32)};
}

}  // namespace

std::optional<DefaultEntry> single_schedule(const LossTable& table, long long bcol) {
  const Items items = items_meant(table);
  if (items.empty()) {
    return std::nullopt;
  }
  const auto half = static_cast<std::ptrdiff_t>((items.size() + 1) / 2);
  const auto widely_measured = best_of(items, table.schedules.size(), half);
  const auto chosen = widely_measured ? widely_measured : best_of(items, table.schedules.size(), 1);
  return DefaultEntry{bcol, parse_schedule(table.schedules[*chosen]), evidence_of(items, *chosen)};
}

}  // namespace esc::tuning
