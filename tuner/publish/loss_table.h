// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "generator/schedule/schedule_database.h"
#include "tuner/records/item_results.h"

namespace esc::tuning {

/// What a schedule loses on one item: the natural logarithm of its time over that of the item's best schedule, 0 or
/// more. Absent where it was not measured, which is common: a search leaves out what promises nothing and stops early.
struct ScheduleLoss {
  std::optional<double> loss;
  bool failed = false;  ///< tried, and not right
};

/// An item with the losses of its table's schedules.
struct ItemLosses {
  LayerShape shape;
  std::vector<ScheduleLoss> losses;  ///< by schedule
  std::string best;                  ///< its best schedule
  double best_microseconds = 0;
  std::optional<double> exact_microseconds;  ///< of the fastest exact library product
  std::optional<double> tf32_microseconds;
  /// What a schedule is taken to lose that was not measured: the upper quartile of those that were.
  double unmeasured_loss = 0;

  /// What counts for a schedule when schedules are compared: its loss; if it failed, `loss_of_failure`.
  double estimate(std::size_t schedule) const;
};

/// A schedule that is not right on an item counts as one that takes four times as long as the best.
inline const double loss_of_failure = std::log(4.0);

/// The items of one bCol, and the schedules that were tried on any of them, in ascending order.
struct LossTable {
  std::vector<std::string> schedules;
  std::vector<std::shared_ptr<const ItemLosses>> items;

  /// The place of a schedule's text among the schedules; absent where it was tried on no item.
  std::optional<std::size_t> place_of(const std::string& schedule) const;
};

/// What was measured on one device for one element type and one layout. What becomes of the sums does not matter: an
/// epilogue takes 2 % and favours no schedule, so that items with one are beside those without.
struct MeasuredDevice {
  DatabaseHead head;
  std::map<long long, LossTable> tables;  ///< by bCol, as columns of C
};

/// The items of the records, warm L2 cache and plain edges, that have at least one right kernel. Does not depend on the
/// order of the records.
std::vector<MeasuredDevice> measured_devices(const std::vector<Record>& records);

/// The same without the items of one pattern.
MeasuredDevice without(const MeasuredDevice& device, const std::string& pattern);

}  // namespace esc::tuning
