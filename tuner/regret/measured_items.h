// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "generator/schedule/layer_class.h"
#include "generator/schedule/schedule.h"
#include "tuner/regret/read_journals.h"

namespace esc::tuning {

/// A schedule that was right on an item, and what it takes.
struct MeasuredSchedule {
  Schedule schedule;
  double microseconds = 0;
  /// Of its kernel; absent where the journal does not say.
  std::optional<KernelFacts> kernel = {};
};

/// A product for which schedules were measured beside each other, on one device.
struct MeasuredItem {
  std::string journal;
  WorkItem work;
  LayerShape shape;                         ///< of `work`
  std::vector<MeasuredSchedule> schedules;  ///< each once
  std::size_t best = 0;                     ///< the place of the fastest one

  /// The place of a schedule; absent where it was not measured, or not right.
  std::optional<std::size_t> place_of(const Schedule& schedule) const;
  /// What the schedule at a place takes over the best one, 1 or more.
  double ratio(std::size_t place) const;
};

/// The items of journals, and what was left out of them.
struct MeasuredItems {
  std::vector<MeasuredItem> items;
  std::int64_t records = 0;              ///< of schedules that were right, with plain edges
  std::int64_t gone = 0;                 ///< of these, those of schedules that this program does not have any more
  std::int64_t of_unknown_matrices = 0;  ///< times that are in no record, as `JournalRecords` says
  std::int64_t emptied = 0;              ///< items whose schedules are all gone: they are to be measured anew
};

/// The items of each journal by itself.
MeasuredItems measured_items(const std::vector<JournalRecords>& journals);

}  // namespace esc::tuning
