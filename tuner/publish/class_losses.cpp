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

/// The geometric mean of a library's time over that of the best schedule, of the items on which both are known.
std::optional<double> over_best(const Items& items, std::optional<double> ItemLosses::*library_microseconds) {
  std::vector<double> ratios;
  for (const ItemLosses* item : items) {
    if (const std::optional<double>& time = item->*library_microseconds) {
      ratios.push_back(*time / item->best_microseconds);
    }
  }
  return geometric_mean(ratios);
}

/// The geometric mean of the time of the fastest exact library product, of the items on which it is known.
std::optional<double> exact_microseconds(const Items& items) {
  std::vector<double> times;
  for (const ItemLosses* item : items) {
    if (item->exact_microseconds) {
      times.push_back(*item->exact_microseconds);
    }
  }
  return geometric_mean(times);
}

}  // namespace

std::vector<ClassEntry> class_entries(const LossTable& table, const std::vector<std::size_t>& portfolio) {
  std::map<LayerClass, Items> classes;
  for (const auto& item : table.items) {
    classes[class_of(item->shape)].push_back(item.get());
  }
  std::vector<ClassEntry> entries;
  for (const auto& [layers, items] : classes) {
    ClassEntry entry{.layers = layers,
                     .matrices = static_cast<int>(items.size()),
                     .over_exact = over_best(items, &ItemLosses::exact_microseconds),
                     .over_tf32 = over_best(items, &ItemLosses::tf32_microseconds),
                     .losses = {},
                     .exact_microseconds = exact_microseconds(items)};
    for (const std::size_t schedule : portfolio) {
      entry.losses.push_back(mean_loss(items, schedule));
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace esc::tuning
