// SPDX-License-Identifier: Apache-2.0
#include "tuner/publish/leave_one_out.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "generator/schedule/scheduler.h"
#include "generator/support/means.h"
#include "tuner/publish/publish.h"

namespace esc::tuning {
namespace {

/// What a schedule loses on an item, and whether that was measured.
struct Loss {
  double estimate = 0;
  bool measured = false;
};

std::set<std::string> patterns_of(const MeasuredDevice& device) {
  std::set<std::string> patterns;
  for (const auto& [bcol, table] : device.tables) {
    for (const auto& item : table.items) {
      patterns.insert(item->shape.pattern);
    }
  }
  return patterns;
}

Loss loss_of(const Schedule& schedule, const ItemLosses& item, const LossTable& table) {
  const auto place = table.place_of(print(schedule));
  return place ? Loss{item.estimate(*place), item.losses[*place].loss.has_value()} : Loss{item.unmeasured_loss, false};
}

LeaveOneOut summary(const std::vector<Loss>& losses) {
  LeaveOneOut result;
  std::vector<double> ratios;
  std::vector<double> estimates;
  for (const Loss& loss : losses) {
    estimates.push_back(std::exp(loss.estimate));
    if (loss.measured) {
      ratios.push_back(estimates.back());
    }
  }
  result.layers = static_cast<int>(ratios.size());
  result.not_measured = static_cast<int>(losses.size() - ratios.size());
  result.estimated_mean = *geometric_mean(estimates);
  if (!ratios.empty()) {
    result.mean = *geometric_mean(ratios);
    result.median = *quantile(ratios, 0.5);
    result.percentile_90 = *quantile(ratios, 0.9);
    result.worst = std::ranges::max(ratios);
  }
  return result;
}

}  // namespace

std::map<long long, LeaveOneOut> leave_one_out(const MeasuredDevice& device) {
  std::map<long long, std::vector<Loss>> losses;
  for (const std::string& pattern : patterns_of(device)) {
    const ScheduleDatabase database = publish_classes(without(device, pattern));
    for (const auto& [bcol, table] : device.tables) {
      for (const auto& item : table.items) {
        if (item->shape.pattern == pattern) {
          losses[bcol].push_back(loss_of(choose_schedule(item->shape, database).schedule, *item, table));
        }
      }
    }
  }
  std::map<long long, LeaveOneOut> results;
  for (const auto& [bcol, of_bcol] : losses) {
    results[bcol] = summary(of_bcol);
  }
  return results;
}

}  // namespace esc::tuning
