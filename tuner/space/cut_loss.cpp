// SPDX-License-Identifier: Apache-2.0
#include "tuner/space/cut_loss.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace esc::tuning {
namespace {

constexpr double none = std::numeric_limits<double>::infinity();

/// The texts of the schedules that would be measured.
std::set<std::string> kept_of(const ItemResults& results, const CutLimits& limits) {
  std::vector<Schedule> space;
  for (const auto& [text, result] : results.search) {
    space.push_back(parse_schedule(text));
  }
  std::set<std::string> kept;
  for (const Candidate& candidate : choose_candidates(space, results.item, limits).kept) {
    const std::string text = print(candidate.schedule);
    const CandidateResult& result = results.search.at(text);
    if (!result.kernel || !occupancy_cut(candidate.schedule, *result.kernel, results.item.device)) {
      kept.insert(text);
    }
  }
  return kept;
}

}  // namespace

CutLoss cut_loss(const std::map<ItemKey, ItemResults>& items, const CutLimits& limits) {
  CutLoss loss;
  double logarithms = 0;
  for (const auto& [key, results] : items) {
    const std::set<std::string> kept = kept_of(results, limits);
    double best = none;
    double best_kept = none;
    for (const auto& [text, result] : results.search) {
      if (result.outcome == Outcome::ok) {
        best = std::min(best, result.microseconds);
        best_kept = kept.contains(text) ? std::min(best_kept, result.microseconds) : best_kept;
      }
    }
    loss.measured += results.search.size();
    loss.kept += kept.size();
    if (best_kept == none) {
      continue;
    }
    ++loss.items;
    loss.winners_cut += best_kept > best ? 1 : 0;
    loss.worst = std::max(loss.worst, best_kept / best);
    logarithms += std::log(best_kept / best);
  }
  loss.mean = loss.items == 0 ? 1 : std::exp(logarithms / static_cast<double>(loss.items));
  return loss;
}

std::string print(const CutLoss& loss) {
  return fmt::format(
      "the cuts would have left {} of {} candidates, lost {:.1f} % (geometric mean; {:.1f} % at worst), and missed the "
      "fastest of {} of {} items",
      loss.kept, loss.measured, 100 * (loss.mean - 1), 100 * (loss.worst - 1), loss.winners_cut, loss.items);
}

}  // namespace esc::tuning
