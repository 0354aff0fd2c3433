// SPDX-License-Identifier: Apache-2.0
#include "tuner/publish/loss_table.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

namespace esc::tuning {
namespace {

std::optional<double> time_of(const CandidateResult* peer) {
  return peer == nullptr ? std::nullopt : std::optional(peer->microseconds);
}

/// The schedules that were tried on an item, whatever became of them. One that a limit kept from being measured was not
/// tried.
std::set<std::string> tried(const ItemResults& results) {
  std::set<std::string> schedules;
  for (const auto* stage : {&results.search, &results.final}) {
    for (const auto& [schedule, result] : *stage) {
      if (result.outcome != Outcome::skipped_by_limit) {
        schedules.insert(schedule);
      }
    }
  }
  return schedules;
}

/// The smallest value that at least three quarters of the losses do not exceed; there is at least one, that of the best
/// schedule.
double upper_quartile(const std::vector<ScheduleLoss>& losses) {
  std::vector<double> measured;
  for (const ScheduleLoss& one : losses) {
    if (one.loss) {
      measured.push_back(*one.loss);
    }
  }
  const auto place = measured.begin() + static_cast<std::ptrdiff_t>((3 * measured.size() + 3) / 4 - 1);
  std::nth_element(measured.begin(), place, measured.end());
  return *place;
}

ItemLosses losses_of(const ItemResults& results, const std::vector<std::string>& schedules) {
  const CandidateResult& best = *results.best();
  ItemLosses item{.shape = shape_of(results.item),
                  .losses = {},
                  .best = best.candidate,
                  .best_microseconds = best.microseconds,
                  .exact_microseconds = time_of(results.best_exact_peer()),
                  .tf32_microseconds = time_of(results.less_exact_dense_peer())};
  const std::set<std::string> attempts = tried(results);
  for (const std::string& schedule : schedules) {
    ScheduleLoss one;
    if (const std::optional<double> time = results.time_of(schedule)) {
      // A search's time can be less than the final one of the best, by noise.
      one.loss = std::max(0.0, std::log(*time / best.microseconds));
    } else {
      one.failed = attempts.contains(schedule);
    }
    item.losses.push_back(one);
  }
  item.unmeasured_loss = upper_quartile(item.losses);
  return item;
}

LossTable table_of(const std::vector<const ItemResults*>& items) {
  std::set<std::string> schedules;
  for (const ItemResults* item : items) {
    schedules.merge(tried(*item));
  }
  LossTable table{.schedules = {schedules.begin(), schedules.end()}, .items = {}};
  for (const ItemResults* item : items) {
    table.items.push_back(std::make_shared<const ItemLosses>(losses_of(*item, table.schedules)));
  }
  return table;
}

}  // namespace

double ItemLosses::estimate(std::size_t schedule) const {
  const ScheduleLoss& one = losses[schedule];
  return one.failed ? loss_of_failure : one.loss.value_or(unmeasured_loss);
}

std::optional<std::size_t> LossTable::place_of(const std::string& schedule) const {
  const auto place = std::ranges::lower_bound(schedules, schedule);
  return place == schedules.end() || *place != schedule
             ? std::nullopt
             : std::optional(static_cast<std::size_t>(place - schedules.begin()));
}

std::vector<MeasuredDevice> measured_devices(const std::vector<Record>& records) {
  const std::map<ItemKey, ItemResults> items = group_by_item(records);
  std::map<std::tuple<DeviceKey, std::string, std::string>, std::map<long long, std::vector<const ItemResults*>>>
      groups;
  for (const auto& [key, results] : items) {
    if (key.cache == CacheState::warm && results.best() != nullptr) {
      groups[{key.device, key.dtype, key.layout}][results.item.product().count].push_back(&results);
    }
  }
  std::vector<MeasuredDevice> measured;
  for (const auto& [group, by_bcol] : groups) {
    const auto& [device, dtype, layout] = group;
    const std::string& name = by_bcol.begin()->second.front()->environment.device_name;
    MeasuredDevice one{
        .head = {.key = device, .device = name.empty() ? "unnamed device" : name, .dtype = dtype, .layout = layout},
        .tables = {}};
    for (const auto& [bcol, members] : by_bcol) {
      one.tables.emplace(bcol, table_of(members));
    }
    measured.push_back(std::move(one));
  }
  return measured;
}

MeasuredDevice without(const MeasuredDevice& device, const std::string& pattern) {
  MeasuredDevice others = device;
  for (auto& [bcol, table] : others.tables) {
    std::erase_if(table.items, [&](const auto& item) { return item->shape.pattern == pattern; });
  }
  return others;
}

}  // namespace esc::tuning
