// SPDX-License-Identifier: Apache-2.0
#include "tuner/regret/measured_items.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "generator/schedule/gone_schedules.h"
#include "tuner/records/item_results.h"

namespace esc::tuning {
namespace {

/// The schedule of a text, for this layer; absent where this program does not have it any more.
std::optional<Schedule> schedule_in(const std::string& text, const LayerShape& shape) {
  try {
    Schedule schedule = parse_schedule(text);
    check_legal(schedule, shape.product());
    return is_gone(schedule, shape.dtype) ? std::nullopt : std::optional(std::move(schedule));
  } catch (const ScheduleError&) {
    return std::nullopt;
  }
}

/// The schedules that were right, by text.
std::set<std::string> right_schedules(const ItemResults& results) {
  std::set<std::string> right;
  for (const auto* stage : {&results.search, &results.final}) {
    for (const auto& [schedule, result] : *stage) {
      if (result.outcome == Outcome::ok) {
        right.insert(schedule);
      }
    }
  }
  return right;
}

std::optional<KernelFacts> kernel_of(const ItemResults& results, const std::string& schedule) {
  for (const auto* stage : {&results.final, &results.search}) {
    if (const auto found = stage->find(schedule); found != stage->end() && found->second.kernel) {
      return found->second.kernel;
    }
  }
  return std::nullopt;
}

void add_item(MeasuredItems& found, const ItemResults& results, const std::string& journal) {
  MeasuredItem item{.journal = journal, .work = results.item, .shape = shape_of(results.item), .schedules = {}};
  // Among finalists, which were measured beside each other, the fastest one is the best, as in `ItemResults::best`.
  std::pair best{true, std::numeric_limits<double>::infinity()};
  const std::set<std::string> right = right_schedules(results);
  for (const std::string& text : right) {
    ++found.records;
    const std::optional<Schedule> schedule = schedule_in(text, item.shape);
    if (!schedule) {
      ++found.gone;
    } else if (!item.place_of(*schedule)) {
      const std::pair order{!results.final.contains(text), *results.time_of(text)};
      if (order < best) {
        best = order;
        item.best = item.schedules.size();
      }
      item.schedules.push_back({*schedule, order.second, kernel_of(results, text)});
    }
  }
  if (!item.schedules.empty()) {
    found.items.push_back(std::move(item));
  } else if (!right.empty()) {
    ++found.emptied;
  }
}

}  // namespace

std::optional<std::size_t> MeasuredItem::place_of(const Schedule& schedule) const {
  const auto place = std::ranges::find(schedules, schedule, &MeasuredSchedule::schedule);
  return place == schedules.end() ? std::nullopt : std::optional(static_cast<std::size_t>(place - schedules.begin()));
}

double MeasuredItem::ratio(std::size_t place) const {
  // A search's time can be less than the final one of the best, by noise.
  return std::max(1.0, schedules[place].microseconds / schedules[best].microseconds);
}

MeasuredItems measured_items(const std::vector<JournalRecords>& journals) {
  MeasuredItems found;
  for (const JournalRecords& journal : journals) {
    found.of_unknown_matrices += journal.of_unknown_matrices;
    for (const auto& [key, results] : group_by_item(journal.records)) {
      add_item(found, results, journal.name);
    }
  }
  return found;
}

}  // namespace esc::tuning
