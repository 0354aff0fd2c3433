// SPDX-License-Identifier: Apache-2.0
#include "tuner/publish/portfolio.h"

#include <algorithm>
#include <limits>

namespace esc::tuning {
namespace {

/// What each schedule loses on each item.
std::vector<std::vector<double>> losses_by_schedule(const LossTable& table) {
  std::vector<std::vector<double>> losses(table.schedules.size());
  for (std::size_t schedule = 0; schedule < losses.size(); ++schedule) {
    for (const auto& item : table.items) {
      losses[schedule].push_back(item->estimate(schedule));
    }
  }
  return losses;
}

/// Whether a schedule was right on any item.
bool is_right(const LossTable& table, std::size_t schedule) {
  return std::ranges::any_of(table.items, [&](const auto& item) { return item->losses[schedule].loss.has_value(); });
}

/// How much less all items lose together when they may have this schedule too.
double gain(const std::vector<double>& least, const std::vector<double>& with_it) {
  double sum = 0;
  for (std::size_t item = 0; item < least.size(); ++item) {
    sum += std::max(0.0, least[item] - with_it[item]);
  }
  return sum;
}

}  // namespace

std::vector<std::size_t> choose_portfolio(const LossTable& table, std::size_t most) {
  constexpr double nothing = 1e-9;  // Sums of logarithms are no more exact than that.
  const std::vector<std::vector<double>> losses = losses_by_schedule(table);
  std::vector<double> least(table.items.size(), loss_of_failure);
  // A schedule never gains more than it would have gained earlier, so most need no second look.
  std::vector<double> at_most(losses.size());
  for (std::size_t schedule = 0; schedule < losses.size(); ++schedule) {
    at_most[schedule] = is_right(table, schedule) ? std::numeric_limits<double>::infinity() : 0;
  }
  std::vector<std::size_t> portfolio;
  while (portfolio.size() < most) {
    std::size_t best = 0;
    double best_gain = nothing;
    for (std::size_t schedule = 0; schedule < losses.size(); ++schedule) {
      if (at_most[schedule] > best_gain) {
        at_most[schedule] = gain(least, losses[schedule]);
        if (at_most[schedule] > best_gain) {
          best = schedule;
          best_gain = at_most[schedule];
        }
      }
    }
    if (best_gain <= nothing) {
      break;
    }
    portfolio.push_back(best);
    std::ranges::transform(least, losses[best], least.begin(), [](double a, double b) { return std::min(a, b); });
  }
  return portfolio;
}

}  // namespace esc::tuning
