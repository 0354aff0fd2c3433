// SPDX-License-Identifier: Apache-2.0
#include "tuner/publish/class_losses.h"

#include <cmath>

#include "generator/support/means.h"

namespace esc::tuning {
namespace {

using Items = std::vector<const ItemLosses*>;

CandidateLoss mean_loss(const Items& items, std::size_t schedule) {
  double sum = 0;
  bool estimated = false;
  for (const ItemLosses* item : items) {
    sum += item->estimate(schedule);
    estimated = estimated || !item->losses[schedule].loss;
  }
  const double percent = 100 * std::expm1(sum / static_cast<double>(items.size()));
  return {.percent = std::round(10 * percent) / 10, .estimated = estimated};
}

/// The geometric mean of a number, of the items of which it is known.
template <typename NumberOf>
std::optional<double> mean_of_known(const Items& items, const NumberOf& number_of) {
  std::vector<double> known;
  for (const ItemLosses* item : items) {
    if (const std::optional<double> number = number_of(*item)) {
      known.push_back(*number);
    }
  }
  return geometric_mean(known);
}

/// Of a library's time over that of the best schedule.
std::optional<double> over_best(const Items& items, std::optional<double> ItemLosses::* library_microseconds) {
  return mean_of_known(items, [&](const ItemLosses& item) {
    const std::optional<double>& time = item.*library_microseconds;
    return time ? std::optional(*time / item.best_microseconds) : std::nullopt;
  });
}

}  // namespace

std::vector<ClassEntry> class_entries(const LossTable& table, const std::vector<std::size_t>& portfolio) {
  std::map<LayerClass, Items> classes;
  for (const auto& item : table.items) {
    classes[class_of(item->shape)].push_back(item.get());
  }
  std::vector<ClassEntry> entries;
  for (const auto& [layers, items] : classes) {
    ClassEntry entry{
        .layers = layers,
        .matrices = static_cast<int>(items.size()),
        .over_exact = over_best(items, &ItemLosses::exact_microseconds),
        .over_tf32 = over_best(items, &ItemLosses::tf32_microseconds),
        .losses = {},
        .exact_microseconds = mean_of_known(items, [](const ItemLosses& item) { return item.exact_microseconds; })};
    for (const std::size_t schedule : portfolio) {
      entry.losses.push_back(mean_loss(items, schedule));
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace esc::tuning
