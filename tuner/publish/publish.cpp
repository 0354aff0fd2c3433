// SPDX-License-Identifier: Apache-2.0
#include "tuner/publish/publish.h"

#include <cmath>
#include <set>

#include "generator/schedule/scheduler.h"
#include "tuner/publish/class_losses.h"
#include "tuner/publish/portfolio.h"
#include "tuner/publish/single_schedule.h"

namespace esc::tuning {
namespace {

/// Adds what the table of one bCol says of layers in general.
void add_table(DatabaseEntries& entries, const LossTable& table, long long bcol) {
  const std::vector<std::size_t> portfolio = choose_portfolio(table);
  for (int number = 0; const std::size_t schedule : portfolio) {
    entries.candidates.push_back({bcol, number++, parse_schedule(table.schedules[schedule])});
  }
  for (ClassEntry& entry : class_entries(table, portfolio)) {
    entries.classes.push_back(std::move(entry));
  }
  if (const auto single = single_schedule(table, bcol)) {
    entries.defaults.push_back(*single);
  }
}

std::optional<double> over_best(std::optional<double> library_microseconds, const ItemLosses& item) {
  return library_microseconds ? std::optional(*library_microseconds / item.best_microseconds) : std::nullopt;
}

/// The entry of a layer for which the classes give this schedule; absent where that is good enough for it.
std::optional<LayerEntry> layer_entry(const LossTable& table, const ItemLosses& item, const Schedule& by_classes) {
  constexpr std::size_t digits = 16;
  const auto place = table.place_of(print(by_classes));
  std::optional<double> gain;
  if (place && item.losses[*place].loss) {
    gain = std::exp(*item.losses[*place].loss);
  }
  const std::string pattern = item.shape.pattern.substr(0, digits);
  const bool is_known = pattern.size() == digits && pattern.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!is_known || (gain && *gain < least_gain_of_layer)) {
    return std::nullopt;
  }
  return LayerEntry{.bcol = item.shape.bcol,
                    .pattern = pattern,
                    .schedule = parse_schedule(item.best),
                    .gain = gain,
                    .over_exact = over_best(item.exact_microseconds, item),
                    .over_tf32 = over_best(item.tf32_microseconds, item)};
}

}  // namespace

ScheduleDatabase publish_classes(const MeasuredDevice& device) {
  DatabaseEntries entries;
  for (const auto& [bcol, table] : device.tables) {
    add_table(entries, table, bcol);
  }
  return {device.head, entries};
}

ScheduleDatabase publish(const MeasuredDevice& device) {
  const ScheduleDatabase general = publish_classes(device);
  DatabaseEntries entries{general.candidates(), general.classes(), {}, general.defaults()};
  for (const auto& [bcol, table] : device.tables) {
    // Of items that are one layer and as many columns, of nests with different epilogues or images, the first one
    // speaks.
    std::set<std::string> patterns;
    for (const auto& item : table.items) {
      const auto layer = layer_entry(table, *item, choose_schedule(item->shape, general).schedule);
      if (layer && patterns.insert(layer->pattern).second) {
        entries.layers.push_back(*layer);
      }
    }
  }
  return {device.head, entries};
}

}  // namespace esc::tuning
